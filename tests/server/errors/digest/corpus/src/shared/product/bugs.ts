// Each entry is one bug. It must have one digest on every path to it, and no other bug can have the same.
import { balance, compare, createRole, greet, hasKind, initials, isAdmin, label, loadProfile, merge, notify, permissions, type Profile, readSession, readTheme, rename, requireAdmin, setting, signIn, track, Wallet } from './account/account.ts';
import { Cart, cheapest, createLimiter, GiftCart, type Item, sortByPrice } from './cart/cart.ts';
import { AppError } from './app-error.ts';
import { bestOf, cached, type Category, checkAll, countItems, depth, fastest, firstChild, line, loaders, names, openStore, price, publishedAt, readPages, refresh, rounded, search, share, shelves, snapshot, stock } from './catalog/catalog.ts';
import { describeRow, Invoice, kindOf, loadRows, lock, parseRow, retry, type Row, send, taxOf, toRate } from './orders/invoice.ts';
import { findOrder } from './orders/order-store.ts';
import { approve, buy, confirmOrder, deleteOrder, firstLine, limit, parseQuantity, pay, refundOrder, requireOrder, reserve, ship, shipAll, summary, tailChecked, validateAddress } from './orders/orders.ts';
import page, { createRoutes, handlers, orderPage, Price } from './pages/pages.ts';

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
  'custom class without a name': { fail: (n) => pay(n) },
  'custom class with a field for a name': { fail: (n) => limit(n) },
  'two throws in one function, first': { fail: (n) => validateAddress({ city: cities[n] }) },
  'two throws in one function, second': { fail: (n) => validateAddress({ street: `s ${n}` }) },
  'same message in two functions, first': { fail: (n) => deleteOrder(`guest ${n}`) },
  'same message in two functions, second': { fail: (n) => refundOrder(`guest ${n}`) },
  'data in the message': { fail: (n) => ship({ name: `Ann ${n}`, city: cities[n] as string }) },
  'error made by a factory': { fail: (n) => parseQuantity('abc'.repeat(n)) },
  'two invariants in one function, first': { fail: (n) => approve({ total: 1e7 + n }) },
  'two invariants in one function, second': { fail: (n) => approve({ total: n }) },
  'assertion in a helper': { fail: (n) => firstLine({ ...findOrder(1), id: `${n}` }) },
  'assertion in a tail call': { fail: (n) => call(() => tailChecked({}, n) + '!') },
  'throw in forEach': { fail: (n) => shipAll([{ weight: 1 }, { weight: 30 + n }]) },
  'reject of a promise': { fail: (n) => reserve(`sku-${n}`) },
  'async function, native': { fail: (n) => confirmOrder(n) },
  'async function, thrown': { fail: (n) => buy(n) },
  'method of an object': { fail: () => summary.total(findOrder(3)) },
  'arrow of an object': { fail: (n) => summary.city(findOrder(n)) },
  'throw in a constructor': { fail: (n) => new Cart(broken(100 + n)) },
  getter: { fail: (n) => `${new Cart(broken(n)).total}` },
  setter: { fail: (n) => { new Cart([]).code = `c${n}`; } },
  'static method': { fail: () => Cart.of(undefined) },
  'private method': { fail: (n) => new Cart(broken(n)).checkout() },
  'callback in map': { fail: (n) => new Cart(broken(n)).tags() },
  'arrow of a class': { fail: (n) => new Cart(broken(n)).onChange({} as never) },
  generator: { fail: (n) => [...new Cart(priced(n)).prices()] },
  'method of a subclass': { fail: (n) => new GiftCart(broken(n)).wrap({} as never) },
  'throw in an overridden method': { fail: (n) => new GiftCart(broken(2 + n)).tags() },
  'reduce of an empty array': { fail: () => cheapest([]) },
  'comparator of a sort': { fail: (n) => sortByPrice(broken(n + 1)) },
  'throw in a closure': { fail: (n) => createLimiter(n)(n + 1) },
  'two times JSON.parse, first': { fail: (n) => readSession(`{"a":${'x'.repeat(n)}|{}`) },
  'two times JSON.parse, second': { fail: (n) => readSession(`{}|{"a":${'x'.repeat(n)}`) },
  'JSON.parse in a tail call': { fail: (n) => call(() => `${readTheme('<'.repeat(n))}!`) },
  'one wrapper, first cause': { fail: (n) => loadProfile(n) },
  'one wrapper, second cause': { fail: (n) => loadProfile(10 + n) },
  'a method that is missing': { fail: (n) => notify({ name: 'x', settings: {} } as Profile, n) },
  'a callback that is missing': { fail: (n) => greet({ name: `${n}` }, undefined as never) },
  'a property whose name is data': { fail: (n) => setting({ sections: {} }, `s${cities[n]}`, cities[n] as string) },
  'two properties in one function, first': { fail: () => compare({ settings: {} } as Profile, {} as never) },
  'two properties in one function, second': { fail: () => compare({ settings: { theme: {} } } as Profile, {} as never) },
  'a global that is missing': { fail: (n) => track(`e${n}`) },
  'a frozen object': { fail: (n) => rename(Object.freeze({ name: 'x' } as Profile), `n${n}`) },
  'destructuring of undefined': { fail: () => page(args(1)) },
  'a parameter that is no array': { fail: (n) => initials(n as never) },
  'spread of undefined': { fail: (n) => merge([`${n}`], undefined) },
  'a string is thrown': { fail: (n) => signIn(`${'ann'.repeat(n)}@example.com`) },
  'an object is thrown': { fail: (n) => signIn(`long enough ${n}`) },
  'default of a parameter': { fail: (n) => requireAdmin({ role: `guest${n}`, age: n }) },
  'endless recursion': { fail: (n) => depth(loop(n)) },
  'endless recursion of two': { fail: (n) => countItems(loop(n)) },
  'two throws in a dependency, first': { fail: (n) => price(`EUR ${n}`) },
  'two throws in a dependency, second': { fail: (n) => price(`${n}`) },
  'rejection of a dependency': { fail: (n) => openStore(`10.0.0.${n}`) },
  'Promise.any': { fail: (n) => fastest([`a${n}`, `b${n}`]) },
  'an AggregateError of our own': { fail: (n) => checkAll(cities.slice(0, n)) },
  'a date that is none': { fail: (n) => publishedAt('never'.repeat(n)) },
  'a URL that is none': { needs: 'URL', fail: (n) => share('shop'.repeat(n)) },
  'an escape that is none': { fail: (n) => search('%'.repeat(n)) },
  'digits out of range': { fail: (n) => rounded(n, 1000 + n) },
  'async generator': { fail: (n) => readPages(n + 3) },
  'promise chain': { fail: (n) => firstChild(`{"children":[{"name":"${n}"}]}`) },
  'async arrow in a wrapper': { fail: (n) => cached(`k${n}`) },
  'handler of a route, first': { fail: (n) => routes.get('/cart')?.(args(n)) },
  'handler of a route, second': { fail: (n) => routes.get('/checkout')?.(args(n)) },
  'handler of a route, third': { fail: (n) => routes.get('/account')?.(args(n)) },
  'a component': { fail: () => Price({ product: {} as never }) },
  'handler of an event, first': { fail: () => handlers['order.created']({ payload: {} as never }) },
  'handler of an event, second': { fail: () => handlers['order.removed']({ payload: {} as never }) },
  'a request that does not arrive': { needs: 'fetch', fail: (n) => stock(59_000 + n) },
  'keys of undefined': { fail: () => permissions({}) },
  'in of a string': { fail: (n) => isAdmin({ role: `guest${n}` }) },
  'instanceof undefined': { fail: () => hasKind({}, {}) },
  'new of undefined': { fail: (n) => createRole({}, `r${n}`) },
  'BigInt and number': { fail: (n) => balance({ cents: BigInt(n) }) },
  'symbol to string': { fail: (n) => label({ id: Symbol(`s${n}`) }) },
  'a property with a getter alone': { fail: (n) => new Wallet().reset(n) },
  'for of undefined': { fail: () => names(undefined) },
  'a negative count': { fail: (n) => line(n) },
  'a negative length': { fail: (n) => shelves(n) },
  'a copy of a function': { needs: 'structuredClone', fail: (n) => snapshot({ name: `c${n}`, children: [] }, () => n) },
  'a time-out': { needs: 'AbortSignal', fail: (n) => refresh(n) },
  'find that finds nothing': { fail: (n) => bestOf([{ name: `c${n}`, children: [] }]) },
  'method of loaders, native': { fail: () => loaders.list({}) },
  'method of loaders, thrown': { fail: (n) => loaders.one(n) },
  'a private field of another class': { fail: () => Invoice.isPaid({}) },
  'getter with a symbol for a name': { fail: () => `${Object.prototype.toString.call(new Invoice())}` },
  'iterator of a class': { fail: (n) => [...new Invoice().add({ name: `r${n}` })] },
  'toJSON, called by JSON.stringify': { fail: (n) => JSON.stringify({ n, invoice: new Invoice() }) },
  'throw in a callback of Array.from': { fail: (n) => new Invoice().add({ name: 'a' }).add({} as Row).render((row) => row.name + n) },
  'callback given by the caller': { fail: (n) => new Invoice().add({ name: `r${n}` }).render((row) => row.parts![0]!.name.trim() + n) },
  'one of two branches': { fail: (n) => taxOf({ name: `r${n}` }) },
  'trap of a Proxy': { fail: (n) => `${(lock({ a: n }) as Record<string, unknown>)[`field${n}`]}` },
  'thrown again after finally': { fail: (n) => parseRow(`{"n":${n}}`) },
  'reason of allSettled': { fail: (n) => loadRows(async () => { throw new RangeError(`row ${n}`); }) },
  'throw in the executor of a promise': { fail: (n) => send({ name: `r${n}` }) },
  'one line of an arrow': { fail: (n) => toRate({ name: `r${n}` }) },
  'tag of a template': { fail: (n) => describeRow({ name: `r${n}` }) },
  'default of a switch': { fail: (n) => kindOf({ kind: `k${n}` }) },
  'thrown again after retries': { fail: (n) => retry(n + 1, async (at) => { throw new AppError(`try ${at} of ${n}`); }) },
};
