import { join } from 'node:path';
import type { Browser, Page, Response as PageResponse, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { FoundIncident } from '../../src/server/desk/store/records.ts';
import { toOccurrence } from '../../src/shared/engine/reporting/address.ts';
import { shareBrowser } from '../support/browser.ts';
import {
  ADDRESS,
  AGENT,
  addressIn,
  lookUp,
  type Place,
  placeOf,
  type ReportAnswer,
  readPlaces,
  withStore,
} from '../support/gallery.ts';
import { createOwnedApp, type OwnedApp, type RunningApp, startApp } from '../support/owned-app.ts';
import { exchanged, hydrated } from './site.ts';

let app: OwnedApp;
/** The server that most tests share. They find their incidents by address. */
let server: RunningApp;
let browser: Browser;
let places: ReadonlyMap<string, Place>;
let dataDir: string;

beforeAll(async () => {
  app = createOwnedApp([], { over: 'gallery' });
  [browser] = await Promise.all([shareBrowser(), app.build()]);
  places = readPlaces(app.folder);
  dataDir = join(app.folder, 'data');
  server = await startApp(app.folder);
}, 120_000);
afterAll(async () => {
  await server?.stop();
  app?.remove();
});

/** Waits until the desk worker has ingested the incident with its full occurrence. */
async function find(address: string): Promise<FoundIncident> {
  let found: FoundIncident | undefined;
  await expect
    .poll(
      async () => {
        found = await lookUp(dataDir, address);
        return found?.occurrence?.full !== undefined;
      },
      { timeout: 10_000, message: `${address} leads nowhere` },
    )
    .toBe(true);
  if (!found) throw new Error('It was found.');
  return found;
}

interface Expected {
  /** The name of a `// fails:` comment. Left out if no line of the product fails. */
  readonly place?: string;
  readonly kind?: string;
  readonly origin?: string;
  readonly side?: 'server' | 'browser';
  readonly route?: string;
  readonly url?: string;
  readonly method?: string;
  readonly title?: RegExp;
}

async function expectStory(address: string, expected: Expected): Promise<FoundIncident> {
  expect(address).toMatch(new RegExp(`^${ADDRESS.source}$`));
  const found = await find(address);
  const whole = found.occurrence?.full;
  if (!whole) throw new Error('All of it was found.');
  const { place, kind = 'exception', side = 'server', title, ...rest } = expected;
  expect(placeOf(whole)).toBe(place && places.get(place));
  if (place) expect(places.get(place), `no line says "fails: ${place}"`).toBeDefined();
  expect({ kind: whole.kind, side: whole.side }).toEqual({ kind, side });
  if (title) expect(whole.title).toMatch(title);
  const told = { origin: whole.origin, route: whole.route, method: whole.request?.method, url: whole.request?.url };
  expect(told).toMatchObject(rest);
  return found;
}

describe('on the server', () => {
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(server.url + path, { redirect: 'manual', ...init, headers: { 'User-Agent': AGENT, ...init.headers } });

  test('a failure before the first byte has its address in the header and on the page', async () => {
    const cases: [path: string, expected: Expected][] = [
      ['/loader/property?token=canary', { place: 'loader-property', origin: 'loader', route: '/loader/:way' }],
      ['/loader/thrown', { place: 'loader-thrown', origin: 'loader', title: /^PaymentError: The card was declined/ }],
      ['/loader/cause', { place: 'loader-cause', origin: 'loader' }],
      ['/loader/string', { origin: 'loader', title: /^NonError: a string/ }],
      ['/loader/network', { place: 'loader-network', kind: 'network', origin: 'loader' }],
      ['/loader/upstream', { place: 'loader-upstream', origin: 'loader', title: /^PaymentError/ }],
      ['/loader/unsendable', { place: undefined, origin: 'loader', route: '/loader/:way' }],
      ['/guarded', { place: 'guard', origin: 'guard' }],
      ['/shell', { place: 'shell-render', origin: 'render', title: /^TypeError/ }],
      ['/step', { place: 'step', origin: 'step' }],
      ['/export.csv', { place: 'route', origin: 'step' }],
      ['/legacy', { place: 'mounted-app', origin: 'step' }],
    ];
    for (const [path, expected] of cases) {
      const response = await ask(path);
      const address = response.headers.get('X-Error-Digest') ?? '';
      expect([path, response.status]).toEqual([path, 500]);
      expect(await response.text()).toContain(address);
      const { occurrence } = await expectStory(address, { method: 'GET', ...expected });
      expect(occurrence?.full?.request?.url).toBe(path.replace('token=canary', 'token=[redacted]'));
      expect(occurrence?.requestId).toBe(response.headers.get('X-Request-Id'));
      expect(occurrence?.full?.request?.headers?.['user-agent']).toBe(AGENT);
    }
  });

  test('breadcrumbs show responses of an upstream', async () => {
    const response = await ask('/loader/upstream');
    const { occurrence } = await find(response.headers.get('X-Error-Digest') ?? '');
    expect(occurrence?.full?.breadcrumbs).toMatchObject([
      { category: 'fetch', level: 'error', message: expect.stringContaining('GET http://127.0.0.1:4/') },
    ]);
  });

  test('page data, actions and the API have the address in the header, and problem+json links to the desk', async () => {
    const data = await ask('/_data/loader/property');
    await expectStory(data.headers.get('X-Error-Digest') ?? '', { place: 'loader-property', url: '/loader/property' });
    for (const name of ['thrown', 'native']) {
      const posted = await ask('/form', {
        method: 'POST',
        headers: { Origin: server.url },
        body: new URLSearchParams({ _action: `form.${name}` }),
      });
      const address = posted.headers.get('X-Error-Digest') ?? '';
      await expectStory(address, { place: `action-${name}`, origin: 'action', method: 'POST' });
    }
    for (const [method, place] of [
      ['GET', 'api-thrown'],
      ['DELETE', 'api-rejected'],
    ] as const) {
      const reply = await ask('/api/orders/7', { method, headers: { Origin: server.url } });
      const { digest, instance } = (await reply.json()) as { digest: string; instance: string };
      const address = instance.replace('/desk/', '').replace('/', '-');
      expect([address, address.slice(0, 8)]).toEqual([reply.headers.get('X-Error-Digest'), digest]);
      await expectStory(address, { place, origin: 'api', method, route: '/api/orders/:id', url: '/api/orders/7' });
    }
  });

  test('a failure after the first byte has its address in the template, or in place of the deferred value', async () => {
    for (const [path, place, origin] of [
      ['/part', 'part-render', 'render'],
      ['/after', 'after-flush', 'render'],
      ['/late/thrown', 'late-rejected', 'late'],
      ['/late/native', 'late-native', 'late'],
    ] as const) {
      const response = await ask(path);
      expect(response.status).toBe(200);
      const html = await response.text();
      const addresses = new Set(html.match(new RegExp(ADDRESS, 'g')));
      expect([path, addresses.size]).toEqual([path, 1]);
      const [address = ''] = addresses;
      const { incident } = await expectStory(address, { place, origin, url: path });
      expect(incident.counts).toEqual({ server: 1, browser: 0 });
    }
  });

  test('a failure that no visitor sees has its address in the log', async () => {
    const logged = async (path: string, origin: string) => {
      const before = server.log().length;
      const response = await ask(path);
      expect(response.status).toBe(200);
      let address: string | undefined;
      await expect
        .poll(
          () => {
            address = addressIn(server.log().slice(before), (line) => line.origin === origin);
            return address;
          },
          { timeout: 10_000 },
        )
        .toBeDefined();
      return address ?? '';
    };
    await expectStory(await logged('/late-write', 'request'), {
      place: 'late-write',
      origin: 'request',
      method: 'GET',
    });
    await expectStory(await logged('/loader/rejection', 'request'), {
      place: 'unhandled-rejection',
      origin: 'request',
      route: '/loader/:way',
    });
    const blocked = await expectStory(await logged('/loader/blocked', 'process'), {
      place: 'blocked-loop',
      kind: 'blocked-loop',
      origin: 'process',
    });
    expect(blocked.occurrence?.full?.extra?.ms).toBeGreaterThan(1000);
  });

  test('a failure that ends the process is stored before it ends, or reported at the next start', async () => {
    const before = server.log().length;
    await ask('/loader/uncaught').catch(() => undefined);
    expect(await server.ended).toBe(1);
    const uncaught = addressIn(server.log().slice(before), (line) => line.origin === 'process');
    await expectStory(uncaught ?? '', { place: 'uncaught', origin: 'process' });

    server = await startApp(app.folder);
    const hanging = ask('/hang').catch(() => undefined);
    const readBeats = () => withStore(dataDir, (_, driver) => driver.all('SELECT * FROM desk_runs'));
    await expect.poll(async () => JSON.stringify(await readBeats())).toContain('/hang');
    await ask('/loader/death').catch(() => undefined);
    await hanging;
    expect(await server.ended).toBeNull();
    server = await startApp(app.folder);
    let address = '';
    await expect
      .poll(
        () => {
          address = addressIn(server.log(), (line) => line.kind === 'unclean-death') ?? '';
          return address;
        },
        { timeout: 10_000 },
      )
      .not.toBe('');
    const { occurrence } = await expectStory(address, { kind: 'unclean-death', origin: 'process' });
    expect(occurrence?.full?.extra).toMatchObject({
      memory: expect.any(Number),
      inFlight: [{ method: 'GET', route: '/hang' }],
    });
  });
});

const LAST = 'the last failure of this page';

/** Does not log to the console. */
function failLast(page: Page): Promise<void> {
  return page.evaluate((message) => {
    dispatchEvent(new ErrorEvent('error', { message, error: new Error(message) }));
  }, LAST);
}

describe('in a browser', () => {
  async function open(path: string, before?: (page: Page) => Promise<unknown>) {
    const context = await browser.newContext({ baseURL: server.url, userAgent: AGENT });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const asked: Request[] = [];
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/_report') asked.push(request);
    });
    await before?.(page);
    await page.goto(path);
    /** The address of the only report. Causes another failure, because a duplicate would be reported before that. */
    async function reported(): Promise<string> {
      await expect.poll(() => asked.length, { timeout: 15_000 }).toBeGreaterThan(0);
      await failLast(page);
      const isLast = (request: Request) => request.postData()?.includes(LAST) === true;
      await expect.poll(() => asked.some(isLast), { timeout: 15_000 }).toBe(true);
      const [report, ...others] = asked.filter((request) => !isLast(request));
      expect(others).toHaveLength(0);
      const answer: ReportAnswer | undefined = await (await report?.response())?.json();
      return `${answer?.digest}-${toOccurrence(answer?.id ?? '')}`;
    }
    return { page, reported };
  }

  test.each<[name: string, expected: Expected]>([
    ['click', { place: 'click', title: /^TypeError: The button was not ready/ }],
    ['click-string', { title: /no error at all/ }],
    ['rejection', { place: 'rejection', title: /^Error: Nobody waited/ }],
    ['timer', { place: 'timer', title: /^TypeError/ }],
    ['effect', { place: 'effect' }],
    ['render', { place: 'render', title: /^TypeError/ }],
  ])('%s leads to its line', async (name, expected) => {
    const { page, reported } = await open('/browser');
    await hydrated(page);
    await page.getByRole('button', { name, exact: true }).click();
    const address = await reported();
    const { occurrence } = await expectStory(address, {
      side: 'browser',
      origin: 'browser',
      route: '/browser',
      ...expected,
    });
    expect(occurrence?.full?.request?.url).toBe(`${server.url}/browser`);
  });

  test('a page that fails to hydrate, a hydration mismatch, and an effect of a static page lead to their lines', async () => {
    const failing = await open('/client-render');
    await expectStory(await failing.reported(), { place: 'client-render', side: 'browser', route: '/client-render' });
    const differing = await open('/mismatch');
    const { incident, occurrence } = await expectStory(await differing.reported(), {
      kind: 'hydration',
      side: 'browser',
      route: '/mismatch',
    });
    expect(occurrence?.full?.componentStack).toBeDefined();
    expect(incident.location).toMatchObject({ path: expect.stringMatching(/\/mismatch\.tsx$/), function: 'Words' });
    const kept = await open('/kept');
    await expectStory(await kept.reported(), { place: 'effect-kept', side: 'browser', route: '/kept' });
  });

  test.each([
    ['lazy', /\/assets\/lazy-[A-Z0-9]{8}\.js/],
    ['styled', /\/assets\/styled-[A-Z0-9]{8}\.css/],
  ])(
    'a missing file of page %s is reported if the document that is loaded instead does not have it',
    async (name, pattern) => {
      const before = server.log().length;
      let courier: Promise<PageResponse> | undefined;
      const { page } = await open('/', async (opened) => {
        courier = opened.waitForResponse(/\/courier-/);
        await opened.route(pattern, (route) => route.fulfill({ status: 404, body: 'gone' }));
      });
      // Before that, the click would load a document.
      await exchanged(page);
      await (await courier)?.finished(); // Without it, the document's first script reports less.
      await page.getByRole('link', { name: `/${name}` }).click();
      await page.getByRole('heading', { name: name === 'lazy' ? 'Lazy' : 'Styled' }).waitFor();
      let address: string | undefined;
      await expect
        .poll(
          () => {
            address = addressIn(server.log().slice(before), (line) => line.kind === 'load');
            return address;
          },
          { timeout: 15_000 },
        )
        .toBeDefined();
      const { incident } = await expectStory(address ?? '', {
        kind: 'load',
        side: 'browser',
        title: /^LoadError: A script or/,
      });
      expect(incident.counts.server).toBe(0);
    },
  );

  test('a failure on the server is not reported again by the browser: navigation, action, deferred value', async () => {
    const { page } = await open('/');
    await exchanged(page);
    await page.getByRole('link', { name: '/loader/property' }).click();
    const shown = await readAddress(page);
    const { incident } = await expectStory(shown, { place: 'loader-property', origin: 'loader' });
    const before = server.log().length;
    await failLast(page);
    await expect.poll(() => server.log().slice(before), { timeout: 15_000 }).toContain(LAST);
    expect((await lookUp(dataDir, shown))?.incident.counts).toEqual(incident.counts);

    await page.goto('/form');
    await page.getByRole('button', { name: 'thrown' }).click();
    await expectStory(await readAddress(page), { place: 'action-thrown', origin: 'action', method: 'POST' });

    await page.goto('/late/thrown');
    await expectStory(await readAddress(page), { place: 'late-rejected', origin: 'late' });
  });
});

async function readAddress(page: Page): Promise<string> {
  const text = page.locator('main').getByText(ADDRESS).first();
  return ADDRESS.exec((await text.textContent()) ?? '')?.[0] ?? '';
}
