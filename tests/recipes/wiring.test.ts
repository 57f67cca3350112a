import { beforeAll, describe, expect, it } from 'vitest';
import { checkTypes } from '../support/check-types.ts';
import { createOwnedApp, type OwnedApp } from '../support/owned-app.ts';

// Checks the compiler's messages for wiring mistakes: they must name the file to correct.

const TABLE = 'src/shared/product/routes.tsx';
const HALVES = 'src/server/product/pages/index.ts';
const PAGE = 'src/shared/product/pages/home/home.tsx';
const HALF = 'src/server/product/pages/order.ts';
const PRODUCT = 'src/server/product/index.ts';
const CONTEXT = 'src/server/product/context.ts';
const FORM = 'src/shared/product/pages/order/pay.tsx';
const ACTIONS = 'src/shared/product/actions.ts';

const files = {
  [TABLE]: `
    import { defineRoutes } from '#engine';
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
    import type { ServerPages } from '#engine/server';
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
    import { createHref } from '#engine';
    import type { routes } from './routes.tsx';
    export const href = createHref<typeof routes>();`,
  'src/shared/product/pages/order/order.tsx': `
    import type { PageProps } from '#engine';
    import { Pay } from './pay.tsx';
    export interface OrderData { total: number; state: Promise<string> }
    export interface OrderActions { pay(): { paidAt: Date }; cancel(): void }
    export default function Order({ data }: PageProps<OrderData>) { return <Pay total={data.total} />; }`,
  [FORM]: `
    import { Form, submitAs, useActionResult } from '../../actions.ts';
    export function Pay({ total }: { total: number }) {
      const paid = useActionResult('order.pay');
      return (
        <Form action="order.pay">
          <p>{paid?.data?.paidAt.toISOString()}</p>
          <button type="submit">{total}</button>
          <button {...submitAs('order.cancel')}>Cancel</button>
        </Form>
      );
    }`,
  [ACTIONS]: `
    import { createActionUses } from '#engine';
    import type { OrderActions } from './pages/order/order.tsx';
    export interface Actions { order: OrderActions }
    export const { Form, useActionResult, submitAs } = createActionUses<Actions>();`,
  [HALF]: `
    import { redirect } from '#engine';
    import type { OrderActions, OrderData } from '../../../shared/product/pages/order/order.tsx';
    import { invalid, type ServerPage } from '#engine/server';
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

/** A replacement in a file, which must contain `from`. */
type Edit = readonly [file: string, from: string, to: string];

function createWiredApp(edits: readonly Edit[]): OwnedApp {
  const app = createOwnedApp([], { partial: true });
  app.write(files);
  for (const [file, from, to] of edits) app.replace(file, from, to);
  return app;
}

const MISSPELT_ACTION =
  /^src\/shared\/product\/pages\/order\/pay\.tsx\(.*"order\.pya"' is not assignable to .*"order\.cancel" \| "order\.pay"/;

/** Mistakes, and what the compiler's output must match. `^` is the start of the output, or of a line with flag `m`. */
const WRONG: [name: string, edits: readonly Edit[], ...said: (RegExp | string)[]][] = [
  [
    'reports a page without a server half, in the table of halves',
    [[HALVES, 'home: null,', '']],
    /^src\/server\/product\/pages\/index\.ts\(.*Property 'home' is missing in type/,
  ],
  [
    'reports a misspelt id, in the table of halves',
    [[HALVES, 'home: null,', 'hmoe: null,']],
    /^src\/server\/product\/pages\/index\.ts\(.*'hmoe'/m,
  ],
  [
    'reports a loader that does not return its declared type, in its own file',
    [[HALF, 'total: 7', "total: '7'"]],
    /^src\/server\/product\/pages\/order\.ts\(.*TS/m,
    "Type 'string' is not assignable to type 'number'",
  ],
  [
    'reports a misspelt action and the existing ones, at the action of a form',
    [[FORM, 'action="order.pay"', 'action="order.pya"']],
    MISSPELT_ACTION,
  ],
  [
    'reports a wrong use of an action result',
    [[FORM, 'paidAt.toISOString()', 'paidAt.toFixed()']],
    /^src\/shared\/product\/pages\/order\/pay\.tsx\(.*'toFixed'.*'Date'/,
  ],
  [
    'reports a missing action, in the file of its half',
    [[HALF, 'cancel: () => redirect', 'cancle: () => redirect']],
    /^src\/server\/product\/pages\/order\.ts\(/m,
    "'cancle' does not exist in type",
  ],
  [
    'reports an action with a wrong result, in the file of its half',
    [[HALF, 'paidAt: new Date()', "paidAt: 'now'"]],
    /^src\/server\/product\/pages\/order\.ts\(/m,
    "Type 'string' is not assignable to type 'Date'",
  ],
  [
    'reports a page whose half is null although it has actions',
    [
      [ACTIONS, 'order: OrderActions', 'home: OrderActions'],
      [FORM, '', '// @ts-nocheck\n'],
    ],
    /^src\/server\/product\/pages\/index\.ts\(.*'null' is not assignable to type '.*ActingPage<"home", OrderActions, AppContext>'/,
  ],
  [
    'reports the file of actions of an unknown route, if they have a server half',
    [
      [ACTIONS, 'order: OrderActions', 'order: OrderActions; ordr: OrderActions'],
      [HALVES, 'home: null,', 'home: null, ordr: {},'],
    ],
    /"\\"ordr\\" is not a route of src\/shared\/product\/routes\.tsx\. Correct its name in src\/shared\/product\/actions\.ts\."/,
  ],
  [
    'reports a page whose module has no component',
    [[PAGE, 'export default function Home', 'export function Home']],
    /^src\/server\/product\/pages\/index\.ts\(.*"The page \\"home\\" does not export a component as its default\. src\/shared\/product\/routes\.tsx names its file\."/m,
  ],
  [
    'reports a link to a page that does not exist, at the link',
    [[PAGE, '/orders/:id', '/order/:id']],
    /^src\/shared\/product\/pages\/home\/home\.tsx\(.*'"\/order\/:id"' is not assignable to parameter of type '"\/" \| "\/orders\/:id"'/,
  ],
  [
    'reports a step with a wrong type',
    [[PRODUCT, 'pages,', 'pages, steps: () => [7],']],
    /^src\/server\/product\/index\.ts\([\s\S]*'number' is not assignable to type 'RequestHandler/,
  ],
  [
    'reports a part of the context that is not provided',
    [[CONTEXT, '= ProductContext<Settings>', '= ProductContext<Settings> & { user: string }']],
    /^src\/server\/product\/index\.ts\([\s\S]*Property 'user' is missing in type/,
  ],
  [
    'reports services that the API needs and that are not opened',
    [[PRODUCT, 'api: createApi', 'api: ({ services }: { services: { database: string } }) => createApi']],
    /^src\/server\/product\/index\.ts\(.*/,
    "'undefined' is not assignable to type '{ database: string; }'",
  ],
];

describe('the compiler', () => {
  let said: string[];
  beforeAll(async () => {
    const apps = [[], ...WRONG.map(([, edits]) => edits)].map(createWiredApp);
    said = await checkTypes(
      apps.map(({ folder }) => folder),
      ['server'],
    );
    for (const app of apps) app.remove();
  }, 120_000);

  it('reports nothing for correct pages that link to each other', () => {
    expect(said[0]).toBe('');
  });

  it.each(WRONG.map(([name, _edits, ...parts], index) => [name, index + 1, parts] as const))(
    '%s',
    (_, index, parts) => {
      for (const part of parts) expect(said[index]).toMatch(part);
    },
  );

  it('reports one error for a page without a server file', () => {
    expect(said[1]?.match(/^\S/gm)).toHaveLength(1);
  });
});
