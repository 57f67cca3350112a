// Each entry is one bug. It must have one digest on every path to it, and no other bug can have the same.
import { compare, loadProfile, notify, type Profile, readSession, readTheme, signIn, track } from './account/account.ts';
import { Cart, cheapest, type Item } from './cart/cart.ts';
import { type Category, checkAll, countItems, fastest, price, readPages, refresh, snapshot, stock } from './catalog/catalog.ts';
import { approve, buy, deleteOrder, parseQuantity, refundOrder, requireOrder, reserve, tailChecked, validateAddress } from './orders/orders.ts';
import page, { createRoutes, orderPage } from './pages/pages.ts';

export interface Bug {
  /** A global that some engines' shells do not have. */
  needs?: string;
  fail(value: number): unknown;
}

const routes = createRoutes();
const cities = ['', 'Oslo', 'Lima', 'Bern'];
const args = (id: number) => ({ params: { id } });
const broken = (n: number) => Array.from({ length: n }, (_, at) => ({ sku: `s${at}` })) as unknown as Item[];
const priced = (n: number) => Array.from({ length: n }, (_, at) => ({ sku: `x${at}`, product: { price: { amount: at } } })) as Item[];

function loop(n: number): Category {
  const category = { name: `c${n}`, children: [] as Category[] } as Category;
  category.parent = category;
  category.children.push(category);
  return category;
}

async function call(fail: () => unknown): Promise<unknown> {
  return await fail();
}

export const bugs: Record<string, Bug> = {
  'missing property in a loader': { fail: (n) => orderPage.loader(args(n)) },
  'throw in an action': { fail: (n) => orderPage.actions.remove(args(n)) },
  'custom class, named by new.target': { fail: (n) => requireOrder(n) },
  'two throws in one function, first': { fail: (n) => validateAddress({ city: cities[n] }) },
  'two throws in one function, second': { fail: (n) => validateAddress({ street: `s ${n}` }) },
  'same message in two functions, first': { fail: (n) => deleteOrder(`guest ${n}`) },
  'same message in two functions, second': { fail: (n) => refundOrder(`guest ${n}`) },
  'error made by a factory': { fail: (n) => parseQuantity('abc'.repeat(n)) },
  'two invariants in one function, first': { fail: (n) => approve({ total: 1e7 + n }) },
  'two invariants in one function, second': { fail: (n) => approve({ total: n }) },
  'assertion in a tail call': { fail: (n) => call(() => tailChecked({}, n) + '!') },
  'reject of a promise': { fail: (n) => reserve(`sku-${n}`) },
  'async function, thrown': { fail: (n) => buy(n) },
  'throw in a constructor': { fail: (n) => new Cart(broken(100 + n)) },
  getter: { fail: (n) => `${new Cart(broken(n)).total}` },
  'private method': { fail: (n) => new Cart(broken(n)).checkout() },
  'callback in map': { fail: (n) => new Cart(broken(n)).tags() },
  'arrow of a class': { fail: (n) => new Cart(broken(n)).onChange({} as never) },
  generator: { fail: (n) => [...new Cart(priced(n)).prices()] },
  'reduce of an empty array': { fail: () => cheapest([]) },
  'two times JSON.parse, first': { fail: (n) => readSession(`{"a":${'x'.repeat(n)}|{}`) },
  'two times JSON.parse, second': { fail: (n) => readSession(`{}|{"a":${'x'.repeat(n)}`) },
  'JSON.parse in a tail call': { fail: (n) => call(() => `${readTheme('<'.repeat(n))}!`) },
  'one wrapper, first cause': { fail: (n) => loadProfile(n) },
  'one wrapper, second cause': { fail: (n) => loadProfile(10 + n) },
  'a method that is missing': { fail: (n) => notify({ name: 'x', settings: {} } as Profile, n) },
  'two properties in one function, first': { fail: () => compare({ settings: {} } as Profile, {} as never) },
  'two properties in one function, second': { fail: () => compare({ settings: { theme: {} } } as Profile, {} as never) },
  'a global that is missing': { fail: (n) => track(`e${n}`) },
  'destructuring of undefined': { fail: () => page(args(1)) },
  'an object is thrown': { fail: (n) => signIn(`long enough ${n}`) },
  'endless recursion of two': { fail: (n) => countItems(loop(n)) },
  'two throws in a dependency, first': { fail: (n) => price(`EUR ${n}`) },
  'two throws in a dependency, second': { fail: (n) => price(`${n}`) },
  'Promise.any': { fail: (n) => fastest([`a${n}`, `b${n}`]) },
  'an AggregateError of our own': { fail: (n) => checkAll(cities.slice(0, n)) },
  'async generator': { fail: (n) => readPages(n + 3) },
  'handler of a route, first': { fail: (n) => routes.get('/cart')?.(args(n)) },
  'handler of a route, second': { fail: (n) => routes.get('/checkout')?.(args(n)) },
  'a request that does not arrive': { needs: 'fetch', fail: (n) => stock(59_000 + n) },
  'a copy of a function': { needs: 'structuredClone', fail: (n) => snapshot({ name: `c${n}`, children: [] }, () => n) },
  'a time-out': { needs: 'AbortSignal', fail: (n) => refresh(n) },
};
