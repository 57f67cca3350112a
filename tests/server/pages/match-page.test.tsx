import { useParams } from 'react-router';
import { describe, expect, it } from 'vitest';
import { startPages, type TestPage } from '../../support/pages-app.tsx';

function Say() {
  return <p>{JSON.stringify(useParams())}</p>;
}

const TABLE: readonly TestPage[] = [
  {
    id: 'root',
    children: [
      { id: 'home', path: '/', view: Say },
      { id: 'orders', path: '/orders', view: Say },
      { id: 'order', path: '/orders/:id', view: Say },
      { id: 'order-line', path: '/orders/:id/lines/:line', view: Say },
      { id: 'new-order', path: '/orders/new', view: Say },
      { id: 'size', path: '/größe', view: Say },
      { id: 'file', path: '/files/:shelf/*', view: Say },
    ],
  },
];

const routeOf = (html: string): string | undefined => /"routes":\["@frame","root","([^"]+)"\]/.exec(html)?.[1];

describe('createMatcher', () => {
  it.each([
    ['/', 'home', '{}'],
    ['/orders', 'orders', '{}'],
    ['/orders/7', 'order', '{"id":"7"}'],
    ['/orders/new', 'new-order', '{}'],
    ['/orders/7/lines/2', 'order-line', '{"id":"7","line":"2"}'],
    ['/orders/a%20b', 'order', '{"id":"a b"}'],
    ['/orders/%252f%25252F', 'order', '{"id":"%2f%252F"}'],
    ['/orders/..%252F..%252Fetc', 'order', '{"id":"..%2F..%2Fetc"}'],
    ['/files/%252F/a%20b/%252F', 'file', '{"shelf":"%2F","*":"a b/%2F"}'],
    ['/files/x', 'file', '{"shelf":"x","*":""}'],
    ['/gr%C3%B6%C3%9Fe', 'size', '{}'],
  ])('matches %s to the route %s', async (path, id, params) => {
    const reply = await (await startPages(TABLE)).ask(path);
    expect(reply.status).toBe(200);
    expect(routeOf(reply.text)).toBe(id);
    expect(reply.text).toContain(`<p>${params.replaceAll('"', '&quot;')}</p>`);
  });

  it.each(['/ORDERS', '/Orders/7', '/orders/7/lines', '/orders/a/b', '/nothing', '/nothing/', '//'])(
    'does not match %s',
    async (path) => {
      const app = await startPages(TABLE);
      const { status, text } = await app.ask(path);
      expect([400, 404]).toContain(status);
      if (status === 404) expect(routeOf(text)).toBe('@not-found');
    },
  );

  it('redirects a trailing slash to the canonical URL, with its query string', async () => {
    const app = await startPages(TABLE);
    for (const [path, location] of [
      ['/orders/', '/orders'],
      ['/orders/7/?a=1&b=%20', '/orders/7?a=1&b=%20'],
      ['/gr%C3%B6%C3%9Fe/', '/gr%C3%B6%C3%9Fe'],
    ]) {
      const reply = await app.ask(path ?? '');
      expect([reply.status, reply.headers.location]).toEqual([308, location]);
    }
    expect((await app.ask('/orders/', { method: 'POST' })).status).toBe(308);
  });
});
