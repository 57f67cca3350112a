import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createOwnedApp, type OwnedApp } from '../support/owned-app.ts';

// What the compiler says where a page is wired wrongly: whoever reads it has to find the file to mend.

const TABLE = 'src/shared/product/routes.tsx';
const HALVES = 'src/server/product/pages/index.ts';
const PAGE = 'src/shared/product/pages/home/home.tsx';
const HALF = 'src/server/product/pages/order.ts';
const FORM = 'src/shared/product/pages/order/pay.tsx';
const ACTIONS = 'src/shared/product/actions.ts';

const files = {
  [TABLE]: `
    import { defineRoutes } from '../engine/routes.ts';
    export const routes = defineRoutes([
      {
        id: 'root',
        page: () => import('./pages/root/root.tsx'),
        children: [
          { id: 'home', path: '/', page: () => import('./pages/home/home.tsx') },
          { id: 'order', path: '/orders/:id', page: () => import('./pages/order/order.tsx') },
        ],
      },
    ]);`,
  [HALVES]: `
    import type { Actions } from '../../../shared/product/actions.ts';
    import type { routes } from '../../../shared/product/routes.tsx';
    import type { ServerPages } from '../../engine/pages/server-page.ts';
    import type { AppContext } from '../context.ts';
    import { order } from './order.ts';
    export const pages = {
      root: null,
      home: null,
      order,
    } satisfies ServerPages<typeof routes, AppContext, Actions>;`,
  [PAGE]: `
    import { href } from '../../href.ts';
    export default function Home() { return href('/orders/:id', { id: 7 }); }`,
  'src/shared/product/href.ts': `
    import { createHref } from '../engine/href.ts';
    import type { routes } from './routes.tsx';
    export const href = createHref<typeof routes>();`,
  'src/shared/product/pages/order/order.tsx': `
    import type { PageProps } from '../../../engine/routes.ts';
    import { Pay } from './pay.tsx';
    export interface OrderData { total: number; state: Promise<string> }
    export interface OrderActions { pay(): { paidAt: Date }; cancel(): void }
    export default function Order({ data }: PageProps<OrderData>) { return <Pay total={data.total} />; }`,
  [FORM]: `
    import { Form, submitAs, useActionOutcome } from '../../actions.ts';
    export function Pay({ total }: { total: number }) {
      const paid = useActionOutcome('order.pay');
      return (
        <Form action="order.pay">
          <p>{paid?.data?.paidAt.toISOString()}</p>
          <button type="submit">{total}</button>
          <button {...submitAs('order.cancel')}>Cancel</button>
        </Form>
      );
    }`,
  [ACTIONS]: `
    import { createActionUses } from '../engine/actions.ts';
    import type { OrderActions } from './pages/order/order.tsx';
    export interface Actions { order: OrderActions }
    export const { Form, useActionOutcome, submitAs } = createActionUses<Actions>();`,
  [HALF]: `
    import { redirect } from '../../../shared/engine/outcome.ts';
    import type { OrderActions, OrderData } from '../../../shared/product/pages/order/order.tsx';
    import { invalid, type ServerPage } from '../../engine/pages/server-page.ts';
    import type { AppContext } from '../context.ts';
    export const order = {
      loader: async () => ({ total: 7, state: Promise.resolve('sent') }),
      actions: {
        pay: async ({ form }) => {
          if (form.get('sum') !== '7') return invalid({ errors: { sum: 'Pay all of it.' } });
          return { paidAt: new Date() };
        },
        cancel: () => redirect('/'),
      },
    } satisfies ServerPage<OrderData, AppContext, OrderActions>;`,
} as const;

let app: OwnedApp;
beforeAll(() => {
  app = createOwnedApp();
});
beforeEach(() => app.write(files));
afterAll(() => app.remove());

/** The lines of the compiler's answer that stand for a mistake of their own. */
async function complaints(): Promise<string[]> {
  return (await app.check()).split('\n').filter((line) => /^\S/.test(line));
}

function replace(file: keyof typeof files, from: string, to: string): void {
  app.write({ [file]: files[file].replace(from, to) });
}

it('is said by the server at its start too, for who did not ask the compiler', async () => {
  replace(HALVES, 'order,\n    }', 'ordr: order,\n    }');
  await app.build();
  await expect(app.start()).rejects.toThrow(
    /^The app ended with 1 before it listened:\nThe route "order" has no server half\. .*index\.ts.*\nThe server half "ordr" has no route\. [^\n]*\n$/,
  );
});

describe('the compiler', () => {
  it('has nothing to say of pages that are wired well, though they link to each other', async () => {
    expect(await complaints()).toEqual([]);
  });

  it('names a page without a server half, in the table of halves', async () => {
    replace(HALVES, 'home: null,', '');
    expect(await complaints()).toEqual([
      expect.stringMatching(/^src\/server\/product\/pages\/index\.ts\(.*Property 'home' is missing in type/),
    ]);
  });

  it('names a misspelt id, in the table of halves', async () => {
    replace(HALVES, 'home: null,', 'hmoe: null,');
    const text = await app.check();
    expect(text).toMatch(/^src\/server\/product\/pages\/index\.ts\(.*'hmoe'/m);
  });

  it('asks for the loader of a page that takes data', async () => {
    replace(HALVES, 'order,\n    }', 'order: null,\n    }');
    expect((await complaints())[0]).toMatch(
      /^src\/server\/product\/pages\/index\.ts\(.*Type 'null' is not assignable to type 'LoadingPage<"order", OrderData, AppContext>/,
    );
  });

  it('names a loader that does not return what it promises, in its own file', async () => {
    replace(HALF, 'total: 7', "total: '7'");
    const text = await app.check();
    expect(text).toMatch(/^src\/server\/product\/pages\/order\.ts\(.*TS/m);
    expect(text).toContain("Type 'string' is not assignable to type 'number'");
  });

  it('names a page that takes something else than its loader promises', async () => {
    replace(HALF, 'total: 7', 'sum: 7');
    const text = await app.check();
    expect(text).toMatch(/^src\/server\/product\/pages\/index\.ts\(.*LoadingPage<"order", OrderData, AppContext>/m);
  });

  it.each([
    ["a form's action", 'action="order.pay"', 'action="order.pya"'],
    ['an outcome', "useActionOutcome('order.pay')", "useActionOutcome('order.pya')"],
    ['a button', "submitAs('order.cancel')", "submitAs('order.cancle')"],
  ])('names a misspelt action, and those that there are, where %s is', async (_, from, to) => {
    replace(FORM, from, to);
    expect((await complaints())[0]).toMatch(
      /^src\/shared\/product\/pages\/order\/pay\.tsx\(.*"order\.(?:pya|cancle)"' is not assignable to .*"order\.cancel" \| "order\.pay"/,
    );
  });

  it('knows what an action answers', async () => {
    replace(FORM, 'paidAt.toISOString()', 'paidAt.toFixed()');
    expect((await complaints())[0]).toMatch(/^src\/shared\/product\/pages\/order\/pay\.tsx\(.*'toFixed'.*'Date'/);
  });

  it.each([
    ['is missing', 'cancel: () => redirect', 'cancle: () => redirect', "'cancle' does not exist in type"],
    ['answers something else', 'paidAt: new Date()', "paidAt: 'now'", "Type 'string' is not assignable to type 'Date'"],
  ])("names an action that %s, in the half's own file", async (_, from, to, words) => {
    replace(HALF, from, to);
    const text = await app.check();
    expect(text).toMatch(/^src\/server\/product\/pages\/order\.ts\(/m);
    expect(text).toContain(words);
  });

  it('names it in the table of halves too, where the half promises nothing', async () => {
    const half = files[HALF].replace('AppContext, OrderActions>', 'AppContext>').replace('cancel: ', 'cancle: ');
    app.write({ [HALF]: half });
    expect(await app.check()).toMatch(
      /^src\/server\/product\/pages\/index\.ts\(.*ActingPage<"order", OrderActions, AppContext>/m,
    );
  });

  it('names a page whose half is null although it has actions', async () => {
    replace(ACTIONS, 'order: OrderActions', 'home: OrderActions');
    replace(FORM, '', '// @ts-nocheck\n');
    expect((await complaints())[0]).toMatch(
      /^src\/server\/product\/pages\/index\.ts\(.*'null' is not assignable to type '.*ActingPage<"home", OrderActions, AppContext>'/,
    );
  });

  it('names actions of a route that is not there, and their file', async () => {
    replace(ACTIONS, 'order: OrderActions', 'order: OrderActions; ordr: OrderActions');
    expect(await app.check()).toMatch(/^src\/server\/product\/pages\/index\.ts\(.*Property 'ordr' is missing in type/m);
    replace(HALVES, 'home: null,', 'home: null, ordr: {},');
    expect(await app.check()).toMatch(
      /"\\"ordr\\" is no route of src\/shared\/product\/routes\.tsx\. Mend its name in src\/shared\/product\/actions\.ts\."/,
    );
  });

  it('names a page whose module has no component', async () => {
    replace(PAGE, 'export default function Home', 'export function Home');
    expect(await app.check()).toMatch(
      /^src\/server\/product\/pages\/index\.ts\(.*"The page \\"home\\" has no component as its default export\. Its file is named in src\/shared\/product\/routes\.tsx\."/m,
    );
  });

  it('names a link to a page that is not there, where the link is', async () => {
    replace(PAGE, '/orders/:id', '/order/:id');
    expect((await complaints())[0]).toMatch(
      /^src\/shared\/product\/pages\/home\/home\.tsx\(.*'"\/order\/:id"' is not assignable to parameter of type '"\/" \| "\/orders\/:id"'/,
    );
  });

  it('names a step, a route or a setting of the wrong shape, in its own file', async () => {
    app.write({
      'src/server/product/steps.ts': `
        import { type RequestHandler, Router } from 'express';
        export function createSteps(): RequestHandler[] { return Router(); }`,
    });
    expect((await complaints())[0]).toMatch(/^src\/server\/product\/steps\.ts\(/);
  });
});
