import { Outlet } from 'react-router';
import { describe, expect, it } from 'vitest';
import { useData } from '../../../../../src/shared/engine/rendering/hooks.ts';
import {
  leakIn,
  parseData,
  parseDocument,
  startPages,
  type TestPage,
  toDataPath,
} from '../../../../support/pages-app.tsx';

function Layout() {
  return (
    <main>
      <h2>{useData<{ site: string }>().site}</h2>
      <Outlet />
    </main>
  );
}

/** A layout around a section around a page. The loaders of the inner two are parameters. */
function within(section: TestPage['server'], page: TestPage['server']): readonly TestPage[] {
  return [
    {
      id: 'root',
      view: Layout,
      server: { loader: () => ({ site: 'Weir' }) },
      children: [
        {
          id: 'section',
          view: () => (
            <section>
              <Outlet />
            </section>
          ),
          server: section,
          children: [{ id: 'page', path: '/page', view: () => <p>shown</p>, server: page }],
        },
      ],
    },
  ];
}

class Canary {
  readonly secret = 'canary-secret';
}

const UNSENDABLE: readonly [string, () => unknown, string][] = [
  ['a function', () => ({ canary: () => 1 }), 'data.page.canary is a function'],
  ['a function in an array', () => [1, { canary: [() => 1] }], 'data.page[1].canary[0] is a function'],
  ['an instance of a class', () => ({ canary: new Canary() }), 'data.page.canary is an instance of Canary'],
  ['an instance of a class in a Map', () => new Map([['canary', new Canary()]]), 'is an instance of Canary'],
  ['a symbol', () => ({ canary: Symbol('canary') }), 'data.page.canary is a symbol'],
];

const PLACES = [
  ['a document', '/page', parseDocument],
  ['page data', toDataPath('/page'), parseData],
] as const;

describe.each(UNSENDABLE)('data with %s', (_name, loader, words) => {
  it.each(PLACES)('is a failure of its loader in %s, and does not affect other routes', async (_place, path, parse) => {
    const app = await startPages(within({ loader: () => ({ section: 1 }) }, { loader }));
    const { status, headers, text } = await app.ask(path);
    expect(status).toBe(500);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers.etag).toBeUndefined();
    const digest = String(headers['x-error-digest']);
    expect(digest).toMatch(/^[0-9A-HJKMNP-TV-Z]{8}-[0-9A-HJKMNP-TV-Z]{8}$/);
    const { payload } = parse(text);
    expect(payload.errors).toEqual({ page: { kind: 'failure', status: 500, digest } });
    expect(payload.data).toEqual({ '@frame': null, root: { site: 'Weir' }, section: { section: 1 } });
    expect(leakIn(text + JSON.stringify(headers))).toBeUndefined();
    expect(app.failures()).toHaveLength(1);
    expect(app.failures()[0]).toMatchObject({ digest: digest.slice(0, 8), origin: 'loader', routeId: 'page' });
    expect(String(app.failures()[0]?.stack)).toMatch(/^WireError/);
    expect(String(app.failures()[0]?.stack)).toContain(words);
  });
});

it('data that cannot be encoded keeps the layout around its route, which shows the digest', async () => {
  const app = await startPages(within({}, { loader: () => new Canary() }));
  const { headers, text } = await app.ask('/page');
  expect(text).toContain('<h2>Weir</h2><section><section data-error="failure">');
  expect(text).toContain(`<code>${headers['x-error-digest']}</code>`);
  expect(text).not.toContain('shown');
  expect(text.endsWith('</body></html>')).toBe(true);
});

it.each(PLACES)('if two routes cannot be encoded, the outer one is shown in %s', async (_name, path, parse) => {
  const app = await startPages(within({ loader: () => () => 1 }, { loader: () => new Canary() }));
  const { status, headers, text } = await app.ask(path);
  expect(status).toBe(500);
  const { payload } = parse(text);
  expect(Object.keys(payload.errors ?? {})).toEqual(['section']);
  expect(payload.errors?.section?.digest).toBe(headers['x-error-digest']);
  expect(payload.data).toEqual({ '@frame': null, root: { site: 'Weir' } });
});

it.each(PLACES)('a deferred value of another route is still sent in %s', async (_name, path, parse) => {
  const app = await startPages(
    within({ loader: () => ({ late: Promise.resolve('late') }) }, { loader: () => ({ canary: () => 1 }) }),
  );
  const { payload, late } = parse((await app.ask(path)).text);
  expect(late).toHaveLength(1);
  await expect((payload.data.section as { late: Promise<string> }).late).resolves.toBe('late');
  expect(app.failures()).toHaveLength(1);
});

it.each(PLACES)(
  'a deferred value that cannot be encoded affects only its own place in %s',
  async (_name, path, parse) => {
    const app = await startPages(within({}, { loader: () => ({ late: Promise.resolve(new Canary()) }) }));
    const { status, headers, text } = await app.ask(path);
    expect([status, headers['x-error-digest']]).toEqual([200, undefined]);
    const { payload } = parse(text);
    await expect((payload.data.page as { late: Promise<unknown> }).late).rejects.toMatchObject({
      pageError: { kind: 'failure', status: 500, digest: expect.stringMatching(/^.{8}-.{8}$/) },
    });
    expect(leakIn(text)).toBeUndefined();
    expect(String(app.failures()[0]?.stack)).toContain('data.page.late is an instance of Canary');
  },
);
