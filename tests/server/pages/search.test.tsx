import { expect, it } from 'vitest';
import * as z from 'zod';
import { useSearch } from '../../../src/shared/rendering/hooks.ts';
import { DATA, parsePage, startPages, type TestPage } from '../../support/pages-app.tsx';

function Shown() {
  return <p>{JSON.stringify(useSearch())}</p>;
}

const Orders = z.object({
  page: z.coerce.number().int().default(1),
  tag: z.array(z.string()).optional(),
  sort: z.enum(['date', 'name']).default('date'),
});

function createTable(server: TestPage['server'], rest: Partial<TestPage> = {}): readonly TestPage[] {
  const orders: TestPage = { id: 'orders', path: '/orders', view: Shown, server, ...rest };
  return [{ id: 'root', server: { search: z.object({ by: z.string().default('all') }) }, children: [orders] }];
}

/** A loader as products write it: the search is in its arguments. */
const loader = ((args: { search: z.output<typeof Orders> }) => ({ next: args.search.page + 1, ...args })) as never;

it.each([
  ['', { page: 1, sort: 'date' }],
  ['?page=7&sort=name', { page: 7, sort: 'name' }],
  ['?page=x&sort=name&utm_source=mail', { page: 1, sort: 'name' }],
  ['?page=7&page=8&sort=up', { page: 1, sort: 'date' }],
  ['?tag=a&tag=b', { page: 1, tag: ['a', 'b'], sort: 'date' }],
  ['?tag=a&__proto__=1', { page: 1, tag: ['a'], sort: 'date' }],
  ['?tag=a&page=x&sort=up', { page: 1, tag: ['a'], sort: 'date' }],
])('parses %j for loader and page, each route with its own schema', async (search, parsed) => {
  const app = await startPages(
    createTable({ search: Orders, loader: ((args: { search: unknown }) => args.search) as never }),
  );
  const { status, text } = await app.ask(`/orders${search}`);
  expect(status).toBe(200);
  expect(text).toContain(`<p>${JSON.stringify(parsed).replaceAll('"', '&quot;')}</p>`);
  const { data } = parsePage((await app.ask(`/_data/orders${search}`)).text).payload;
  expect(data).toEqual({ '@frame': { root: { by: 'all' }, orders: parsed }, root: null, orders: parsed });
});

it.each([
  ['a key is missing', z.object({ q: z.string({ error: 'Enter a word.' }) }), '', 'q: Enter a word.'],
  ['a value is not valid', z.object({ page: z.number('Not a number.') }), '?page=2', 'page: Not a number.'],
  ['there is another key', z.strictObject({}, 'One too many.'), '?utm_source=x', 'One too many.'],
])('answers 400 with the reason of the schema if %s', async (_name, schema, search, reason) => {
  const app = await startPages(createTable({ search: schema, loader }));
  const { status, text } = await app.ask(`/orders${search}`);
  expect(status).toBe(400);
  expect(text).toContain(`>This address is not valid. ${reason}<`);
  expect(app.failures()).toEqual([]);
});

it('gives the search to versions, actions and copied arguments', async () => {
  const seen: unknown[] = [];
  const server = {
    search: Orders,
    loader: async ({ ...args }: { search: unknown }) => seen.push(args.search),
    version: ({ search }: { search: { page: number } }) => `v${search.page}`,
    actions: { pay: ({ search }: { search: { page: number } }) => ({ page: search.page }) },
  };
  const app = await startPages(createTable(server as never));
  const heads = ['3', '03', '4'].map((page) => app.ask(`/_data/orders?page=${page}`, { method: 'HEAD' }));
  const [etag, same, other] = (await Promise.all(heads)).map(({ headers }) => headers.etag);
  expect([same === etag, other === etag, seen]).toEqual([true, false, []]);
  const posted = await app.post('/orders?page=4', '_action=orders.pay', DATA);
  expect(parsePage(posted.text).payload.action).toMatchObject({ data: { page: 4 } });
  expect(seen).toEqual([{ page: 4, sort: 'date' }]);
});

it('parses the listed keys of a static page', async () => {
  const app = await startPages(createTable({ search: Orders }, { mode: 'static', searchKeys: ['page'] }));
  const { text } = await app.ask('/orders?page=2&sort=name');
  expect(text).toContain('<p>{&quot;page&quot;:2,&quot;sort&quot;:&quot;date&quot;}</p>');
});
