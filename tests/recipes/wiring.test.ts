import { expect, it, onTestFinished } from 'vitest';
import { checkTypes } from '../support/check-types.ts';
import { createOwnedApp, type OwnedApp } from '../support/owned-app.ts';

// Checks the compiler's messages for wiring mistakes: they must name the file to correct.

const TABLE = 'src/shared/product/routes.tsx';
const HREF = 'src/shared/product/href.ts';
const HALVES = 'src/server/product/pages/index.ts';
const PAGE = 'src/shared/product/pages/home/home.tsx';
const HALF = 'src/server/product/pages/order.ts';
const PRODUCT = 'src/server/product/index.ts';
const CONTEXT = 'src/server/product/context.ts';
const FORM = 'src/shared/product/pages/order/pay.tsx';
const FORMS = 'src/shared/product/forms.ts';
const ORDER = 'src/shared/product/pages/order/order.tsx';

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
    import type { href } from '../../../shared/product/href.ts';
    import type { routes } from '../../../shared/product/routes.tsx';
    import type { ServerPages } from '#engine/server';
    import type { AppContext } from '../context.ts';
    import { order } from './order.ts';
    export const pages = {
      root: null,
      home: null,
      order,
    } satisfies ServerPages<typeof routes, AppContext, typeof href>;`,
  [PAGE]: `
    import { href } from '../../href.ts';
    export default function Home() { return href('/orders/:id', { id: 7 }, { search: { page: 2 } }); }`,
  [HREF]: `
    import { createHref } from '#engine';
    import type { orderSearch } from '../../server/product/pages/order.ts';
    import type { routes } from './routes.tsx';
    export const href = createHref<typeof routes, { '/orders/:id': typeof orderSearch }>();`,
  [CONTEXT]: `
    import { createDefinePage, type ProductContext, type ProductParts } from '#engine/server';
    import type { routes } from '../../shared/product/routes.tsx';
    import type { Settings } from './settings.ts';
    export type AppParts = ProductParts<Settings>;
    export type AppContext = ProductContext<Settings>;
    export const definePage = createDefinePage<AppContext, typeof routes>();`,
  [ORDER]: `
    import { type PageProps, useSearch } from '#engine';
    import type { order } from '../../../../server/product/pages/order.ts';
    import { Pay } from './pay.tsx';
    export default function Order({ data, params, search }: PageProps<typeof order>) {
      const { view } = useSearch<typeof order>();
      const late: Promise<string> = data.state;
      void late;
      return <Pay total={data.total} title={params.id + view + (search.page + 1)} />;
    }`,
  [FORM]: `
    import { Form, submitAs, useActionResult } from '../../forms.ts';
    export function Pay({ total, title }: { total: number; title: string }) {
      const paid = useActionResult('order.pay');
      return (
        <Form action="order.pay">
          <p>{paid?.data?.paidAt.toISOString()}</p>
          <button type="submit" title={title}>{total}</button>
          <p>{useActionResult('order.photo')?.data?.bytes.toFixed()}</p>
          <button {...submitAs('order.cancel')}>Cancel</button>
        </Form>
      );
    }`,
  [FORMS]: `
    import { createActionUses } from '#engine';
    import type { pages } from '../../server/product/pages/index.ts';
    export const { Form, useActionResult, submitAs } = createActionUses<typeof pages>();`,
  [HALF]: `
    import * as z from 'zod';
    import { redirect } from '#engine';
    import { formAction, invalid } from '#engine/server';
    import { href } from '../../../shared/product/href.ts';
    import { definePage } from '../context.ts';
    export const orderSearch = z.object({
      page: z.coerce.number().default(1),
      view: z.enum(['list', 'map']).default('list'),
    });
    export const order = definePage({
      path: '/orders/:id',
      search: orderSearch,
      loader: async ({ params, search, context }) => ({
        total: params.id.length + search.page,
        state: Promise.resolve('sent'),
        log: typeof context.log,
        next: href('/orders/:id', params, { search: { page: search.page + 1 } }),
      }),
      actions: {
        pay: async ({ form }) => {
          if (form.get('sum') !== '7') return invalid({ errors: { sum: 'Pay all of it.' } });
          return { paidAt: new Date() };
        },
        cancel: formAction(z.object({ why: z.string() }), ({ data }) => {
          if (data.why) redirect(href('/orders/:id', { id: 7 }, { search: { view: 'map' } }));
        }),
        photo: {
          maxBytes: 50_000_000,
          run: ({ form, params: { id } }) => {
            const photo = form.get('photo');
            return photo instanceof File ? { bytes: photo.size } : invalid({ errors: { photo: id } });
          },
        },
      },
      openActions: ['pay'],
    });`,
} as const;

/** A replacement in a file, which must contain `from`. */
type Edit = readonly [file: string, from: string, to: string];

function createWiredApp(edits: readonly Edit[]): OwnedApp {
  const app = createOwnedApp();
  app.write(files);
  for (const [file, from, to] of edits) app.replace(file, from, to);
  return app;
}

const MISSPELT_ACTION =
  /^src\/shared\/product\/pages\/order\/pay\.tsx\(.*"order\.pya"' is not assignable to .*"order\.cancel" \| "order\.pay"/;

/** Mistakes, and what the compiler's output must match. `^` is the start of the output, or of a line with flag `m`. */
const WRONG: [name: string, edits: readonly Edit[], ...said: (RegExp | string)[]][] = [
  [
    'reports a page without a server file, in the table of halves',
    [[HALVES, 'home: null,', '']],
    /^src\/server\/product\/pages\/index\.ts\(.*Property 'home' is missing in type/,
  ],
  [
    'reports a misspelt id, in the table of halves',
    [[HALVES, 'home: null,', 'hmoe: null,']],
    /^src\/server\/product\/pages\/index\.ts\(.*'hmoe'/m,
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
  ...[
    ['field', 'data.total', 'data.totl', "'totl'", "'total'"],
    ['parameter', 'params.id', 'params.di', "'di'", '{ readonly id: string; }'],
    ['search key', 'search.page', 'search.pgae', "'pgae'", '{ page: number; view: "list" | "map"; }'],
  ].map(([name, from, to, ...said]): (typeof WRONG)[number] => [
    `reports a misspelt ${name}, where the page reads it`,
    [[ORDER, from ?? '', to ?? '']],
    /^src\/shared\/product\/pages\/order\/order\.tsx\(/,
    ...said,
  ]),
  ...[
    ['path', "'/orders/:id'", "'/order/:id'", '\'"/order/:id"\'', '\'"/orders/:id"\''],
    ['parameter', 'params.id', 'params.di', "'di'", '{ readonly id: string; }'],
    ['search key', 'search.page', 'search.pgae', "'pgae'"],
    ['part', 'loader:', 'laoder:', "'laoder'", "'loader'"],
    ['member of the context', 'context.log', 'context.lgo', "'lgo'"],
    ['open action', "['pay']", "['pya']", '"pya"', '"pay"'],
  ].map(([name, from, to, ...said]): (typeof WRONG)[number] => [
    `reports a misspelt ${name}, in the file of the half`,
    [[HALF, from ?? '', to ?? '']],
    /^src\/server\/product\/pages\/order\.ts\(/m,
    ...said,
  ]),
  [
    'reports a link to a page that does not exist, at the link',
    [[PAGE, '/orders/:id', '/order/:id']],
    /^src\/shared\/product\/pages\/home\/home\.tsx\(.*'"\/order\/:id"' is not assignable to parameter of type '"\/" \| "\/orders\/:id"'/,
  ],
  ...[
    ['key', 'page: 2', 'pgae: 2', "'pgae' does not exist in type '{ readonly page?: number"],
    ['value', 'page: 2', "page: 'two'", "'string' is not assignable to type 'number'"],
  ].map(([name, from, to, ...said]): (typeof WRONG)[number] => [
    `reports a wrong search ${name}, at the link`,
    [[PAGE, from ?? '', to ?? '']],
    /^src\/shared\/product\/pages\/home\/home\.tsx\(/,
    ...said,
  ]),
  [
    'reports a search that the links do not know, in the table of halves',
    [[HREF, "'/orders/:id'", "'/order/:id'"]],
    /^src\/server\/product\/pages\/index\.ts\(.*"Add the search of \/orders\/:id to src\/shared\/product\/href\.ts/m,
  ],
  [
    'reports a search that refuses text, in the file of the half',
    [[HALF, 'z.coerce.number()', 'z.number()']],
    /^src\/server\/product\/pages\/order\.ts\([\s\S]*refuses text for \\"page\\". For a number, use z\.coerce/m,
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

async function check(edits: readonly Edit[]): Promise<string> {
  const app = createWiredApp(edits);
  onTestFinished(app.remove);
  return checkTypes(app.folder);
}

it('the compiler reports nothing for correct pages that link to each other', async () => {
  expect(await check([])).toBe('');
});

it.each(WRONG)('the compiler %s', async (_name, edits, ...parts) => {
  const said = await check(edits);
  for (const part of parts) expect(said).toMatch(part);
});

it('the compiler reports one error for a page without a server file', async () => {
  const [, edits] = WRONG[0] ?? expect.unreachable();
  expect((await check(edits)).match(/^\S/gm)).toHaveLength(1);
});
