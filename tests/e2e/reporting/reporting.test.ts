import type { Browser, BrowserContext, BrowserContextOptions, Page, Response } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { shareBrowser, type Watched, watch } from '../../support/browser.ts';
import { type OwnedApp, type RunningApp, startApp } from '../../support/owned-app.ts';
import { DIGEST, type RecordedEvent, type Recorder, startRecorder } from '../report-recorder.ts';
import { exchanged, heading, hydrated } from '../site.ts';
import { createFailingApp } from './failing-app.ts';

const ADDRESS = /^[0-9A-HJKMNP-TV-Z]{8}-[0-9A-HJKMNP-TV-Z]{8}$/;

let browser: Browser;
let clone: OwnedApp;
let app: RunningApp;
let recorder: Recorder;
const contexts: BrowserContext[] = [];

beforeAll(async () => {
  clone = createFailingApp();
  await clone.build();
  [app, browser] = await Promise.all([startApp(clone.folder), shareBrowser()]);
  recorder = await startRecorder(app.url);
}, 120_000);

afterEach(async () => {
  await Promise.all(contexts.splice(0).map((context) => context.close()));
  recorder.events.length = 0;
});

afterAll(async () => {
  await recorder?.stop();
  await app?.stop();
  clone.remove();
});

interface Opened extends Watched {
  readonly page: Page;
}

async function open(
  path: string,
  before?: (page: Page) => Promise<unknown>,
  options: BrowserContextOptions = {},
): Promise<Opened> {
  const context = await browser.newContext({
    baseURL: recorder.url,
    userAgent: `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${browser.version()} Safari/537.36`,
    ...options,
  });
  contexts.push(context);
  const page = await context.newPage();
  const watched = await watch(page);
  await before?.(page);
  await page.goto(path);
  return { page, ...watched };
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

/** Follows a link of the home page, after the router and the chunk that reports failures in detail are loaded. */
async function goTo(path: string, before?: (page: Page) => Promise<unknown>): Promise<Opened> {
  let courier: Promise<Response> | undefined;
  const opened = await open('/', (page) => {
    courier = page.waitForResponse(/\/courier-/);
    return before?.(page) ?? Promise.resolve();
  });
  await exchanged(opened.page);
  await (await courier)?.finished();
  await opened.page.getByRole('link', { name: path, exact: true }).click();
  return opened;
}

const LAST = 'the last failure of this page';

/** Returns the reported events. Causes another failure, which the console does not show, to detect surplus reports. */
async function reported(page: Page, count = 1): Promise<RecordedEvent[]> {
  const isLast = ({ exception }: RecordedEvent) => exception.values.some(({ value }) => value === LAST);
  const others = () => recorder.events.filter((event) => !isLast(event));
  await expect.poll(() => others().length).toBeGreaterThanOrEqual(count);
  if (page.url() !== 'about:blank') {
    await page.evaluate((message) => {
      dispatchEvent(new ErrorEvent('error', { message, error: new Error(message) }));
    }, LAST);
    await expect.poll(() => recorder.events.some(isLast)).toBe(true);
  }
  const events = others();
  expect(events.map(toLine)).toHaveLength(count);
  return events;
}

/** A short description of a report. */
function toLine({ exception, tags }: RecordedEvent) {
  const { type, value, mechanism } = exception.values.at(-1) ?? {};
  return {
    said: `${type}: ${value}`,
    via: mechanism?.type,
    ...(tags['spillway.kind'] ? { kind: tags['spillway.kind'] } : {}),
    ...(tags['spillway.echo'] ? { echo: tags['spillway.echo'] } : {}),
  };
}

describe('an error in the browser is reported once, and logged to the console', () => {
  test.each([
    ['handler', 'Error: in a handler', 'onerror', 'page error: in a handler'],
    ['words', 'NonError: only words', 'onerror', 'page error: only words'],
    ['rejection', 'TypeError: rejected', 'onunhandledrejection', 'page error: rejected'],
  ])('in an event: %s', async (button, said, via, complaint) => {
    const { page, complaints } = await open('/buttons');
    await hydrated(page);
    await press(page, button);
    const [event] = await reported(page);
    expect(event && toLine(event)).toEqual({ said, via });
    expect(complaints).toEqual([complaint]);
    // A thrown string has no stack. Of its origin, only React's own frame is known.
    const frame = event?.exception.values[0]?.stacktrace?.frames.at(-1);
    expect(frame?.filename).toMatch(button === 'words' ? /\/assets\/chunk-/ : /\/assets\/buttons-\w+\.js$/);
    expect(frame?.lineno).toBeGreaterThan(0);
    expect(event?.transaction).toBe('/buttons');
    expect(event?.tags['spillway.build']).toMatch(/^[0-9a-f]{12}$/);
    expect(event?.request?.url).toBe(`${recorder.url}/buttons`);
    expect(event?.header.dsn).toBe(`https://spillway@${new URL(recorder.url).host}/1`);
  });

  test('that the app handled, if it calls report(), with its level, tags and data', async () => {
    const { page, complaints } = await open('/buttons');
    await hydrated(page);
    await press(page, 'handled');
    const [event] = await reported(page);
    expect(event && toLine(event)).toEqual({ said: 'Error: handled', via: 'report' });
    expect(event).toMatchObject({ level: 'warning', tags: { plan: 'pro' }, extra: { step: 2 } });
    expect(event?.exception.values[0]?.mechanism).toMatchObject({ handled: true });
    expect(complaints).toEqual([]);
    await heading(page, 'Buttons');
  });

  test('in a render, with the components around it, and shows its address when the server has assigned it', async () => {
    const { page, complaints } = await open('/boundary');
    await hydrated(page);
    await press(page, 'fail');
    const [event] = await reported(page);
    expect(event && toLine(event)).toEqual({ said: 'Error: in a render', via: 'react.caught' });
    expect(event?.contexts?.react?.componentStack).toContain('\n    at ');
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toContain('error: Error: in a render');
    await heading(page, 'failure');
    const address = page.getByText(new RegExp(`^${DIGEST}-`));
    expect(await address.innerText()).toMatch(ADDRESS);
  });

  test.each([
    ['words', 'words in a render'],
    ['number', 'NaN'],
  ])('in a render, if what is thrown is not an object: %s', async (button, said) => {
    const { page } = await open('/boundary');
    await hydrated(page);
    await press(page, button);
    const [event] = await reported(page);
    expect(event && toLine(event)).toEqual({ said: `NonError: ${said}`, via: 'react.caught' });
    await page.getByText(new RegExp(`^${DIGEST}-`)).waitFor();
  });

  test('in an effect, in a document and after a navigation', async () => {
    const { page } = await open('/effect');
    const [event] = await reported(page);
    expect(event && toLine(event)).toEqual({ said: 'Error: in an effect', via: 'react.caught' });
    recorder.events.length = 0;
    const other = await goTo('/effect');
    await reported(other.page);
  });

  test('outside all error boundaries', async () => {
    const { page, complaints } = await open('/');
    await hydrated(page);
    await press(page, 'bomb');
    const [event] = await reported(page);
    expect(event && toLine(event)).toEqual({ said: 'Error: outside of everything', via: 'react.uncaught' });
    expect(complaints).toEqual(['page error: outside of everything']);
  });

  test('with what the visitor did before it', async () => {
    const { page } = await goTo('/buttons');
    await heading(page, 'Buttons');
    await page.waitForLoadState('networkidle');
    await press(page, 'later');
    const [event] = await reported(page);
    const crumbs = event?.breadcrumbs?.map(({ category }) => category);
    expect(crumbs).toContain('ui.click');
    expect(crumbs).toContain('console');
    expect(event?.contexts?.trace?.trace_id).toMatch(/^[0-9a-f]{32}$/);
  });

  test('with the click that failed, by a selector that finds it again', async () => {
    const { page } = await open('/buttons');
    await exchanged(page);
    await page.waitForLoadState('networkidle');
    await press(page, 'words');
    const [event] = await reported(page);
    const { category, message = '' } = event?.breadcrumbs?.at(-1) ?? {};
    expect(category).toBe('ui.click');
    expect(await page.locator(message).innerText()).toBe('words');
  });

  test('each time it is thrown', async () => {
    const { page } = await open('/buttons');
    await hydrated(page);
    await press(page, 'words');
    await press(page, 'words');
    await reported(page, 2);
  });

  test('on a page without a nonce, without a CSP violation', async () => {
    const { page, complaints } = await open('/kept');
    await hydrated(page);
    await press(page, 'handler');
    const [event] = await reported(page);
    expect(event && toLine(event)).toEqual({ said: 'Error: in a kept page', via: 'onerror' });
    expect(complaints).toEqual(['page error: in a kept page']);
    expect(await page.locator('meta[name="sentry-trace"], meta[name="baggage"]').count()).toBe(0);
  });

  test('before the page is hydrated, with the time at which it happened', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const opening = open('/', async (page) => {
      await page.route('**/assets/main-*.js', async (route) => {
        await released;
        await route.continue();
      });
      page.once('pageerror', () => setTimeout(release, 500)); // The report must not contain this later time.
      await page.addInitScript(() => {
        document.addEventListener('readystatechange', () => {
          if (document.readyState !== 'interactive') return;
          (window as { failedAt?: number }).failedAt = Date.now();
          throw new Error('very early');
        });
      });
    });
    const { page } = await opening;
    const [event] = await reported(page);
    expect(event && toLine(event)).toEqual({ said: 'Error: very early', via: 'onerror' });
    const failedAt = await page.evaluate(() => (window as { failedAt?: number }).failedAt ?? 0);
    expect(Math.abs((event?.timestamp ?? 0) * 1000 - failedAt)).toBeLessThan(300);
  });
});

describe('a hydration', () => {
  test('that finds different markup is reported as a mismatch', async () => {
    const { page, complaints } = await open('/mismatch');
    await heading(page, 'browser');
    const [event] = await reported(page);
    expect(event && toLine(event)).toMatchObject({ via: 'react.recoverable', kind: 'hydration' });
    expect(event?.contexts?.react?.meaning).toContain('The text rendered by the server does not match the browser.');
    expect(event?.contexts?.react?.componentStack).toContain('\n    at ');
    expect(complaints).toEqual([expect.stringContaining('error #418')]);
  });

  test('that throws is reported as the thrown error', async () => {
    const { page } = await open('/throwing', (page) =>
      page.addInitScript(() => {
        (window as { hydratesBadly?: boolean }).hydratesBadly = true;
      }),
    );
    await heading(page, 'Throwing');
    const [event] = await reported(page);
    expect(event && toLine(event)).toEqual({ said: 'Error: while hydrating', via: 'react.recoverable' });
  });
});

describe('a failure of the server is reported as an echo, once', () => {
  test('from a loader, in a document', async () => {
    const { page } = await open('/loader');
    const address = await page.getByText(ADDRESS).innerText();
    const [event] = await reported(page);
    expect(event && toLine(event)).toMatchObject({ echo: address });
  });

  test('from a loader, in page data', async () => {
    const { page } = await goTo('/loader');
    const address = await page.getByText(ADDRESS).innerText();
    const [event] = await reported(page);
    expect(event && toLine(event)).toMatchObject({ echo: address });
    expect(event?.transaction).toBe('/loader');
  });

  test('from page data in another format, if it has an address', async () => {
    const address = '0123456Z-89ABCDEF';
    const { page, documents } = await goTo('/other', (page) =>
      page.route('**/_data/other', (route) =>
        route.fulfill({ status: 500, body: 'sorry', headers: { 'X-Error-Digest': address } }),
      ),
    );
    await heading(page, 'Other');
    const [event] = await reported(page);
    expect(event && toLine(event)).toMatchObject({ echo: address });
    expect(documents).toEqual(['/', '/other']);
  });

  test('from an action', async () => {
    const { page } = await open('/acting');
    await exchanged(page);
    await press(page, 'act');
    const address = await page.getByText(ADDRESS).innerText();
    const [event] = await reported(page);
    expect(event && toLine(event)).toMatchObject({ echo: address });
  });

  test('from a deferred value that two components wait for, in a document and after a navigation', async () => {
    for (const visit of [() => open('/late'), () => goTo('/late')]) {
      recorder.events.length = 0;
      const { page } = await visit();
      const address = await page.getByText(ADDRESS).first().innerText();
      const [event] = await reported(page);
      expect(event && toLine(event)).toMatchObject({ echo: address });
    }
  });

  test('from a component that the browser could render', async () => {
    const { page } = await open('/once');
    await page.getByText('mended').waitFor();
    const [event] = await reported(page);
    expect(event && toLine(event)).toMatchObject({ via: 'react.recoverable', echo: expect.stringMatching(ADDRESS) });
  });

  test('from a component that the browser could not render either', async () => {
    const { page } = await open('/twice');
    await heading(page, 'failure');
    const [event] = await reported(page);
    expect(event && toLine(event)).toEqual({
      said: 'Error: on both sides',
      via: 'react.caught',
      echo: expect.stringMatching(ADDRESS),
    });
  });
});

const lose = (page: Page, url: string) => page.route(url, (route) => route.fulfill({ status: 404 }));

const loseOnce = (page: Page, url: string) => page.route(url, (route) => route.fulfill({ status: 404 }), { times: 1 });

describe('a file that does not load', () => {
  test.each([
    ['/other', '**/assets/other-*.js'],
    ['/styled', '**/assets/styled-*.css'],
  ])('is not reported if the document that is loaded instead has it: %s', async (path, url) => {
    const { page, documents } = await goTo(path, (page) => loseOnce(page, url));
    await page.waitForURL(`**${path}`);
    await hydrated(page);
    await reported(page, 0);
    expect(documents).toEqual(['/', path]);
  });

  test.each([
    ['/other', '**/assets/other-*.js', 'RouteLoadError'],
    ['/styled', '**/assets/styled-*.css', 'LoadError'],
  ])('is reported once if the document does not have it either: %s', async (path, url, said) => {
    const { page, documents } = await goTo(path, (page) => lose(page, url));
    await page.waitForURL(`**${path}`);
    const [event] = await reported(page);
    expect(event && toLine(event)).toMatchObject({ kind: 'load', said: expect.stringContaining(said) });
    expect(documents).toEqual(['/', path]);
  });

  const PART = '**/assets/lazy-part-*.js';

  test('is not reported if it is of React.lazy in a document, and one reload has it', async () => {
    const { page, documents } = await open('/eager', (page) => loseOnce(page, PART));
    await expect.poll(() => documents).toEqual(['/eager', '/eager']);
    await hydrated(page, 'b');
    await reported(page, 0);
    expect(documents).toEqual(['/eager', '/eager']);
  });

  describe.each(['in the page', 'in a boundary'])('of React.lazy, %s', (where) => {
    test('is not reported if one reload has it', async () => {
      const { page, documents } = await goTo('/lazy', (page) => loseOnce(page, PART));
      await press(page, where);
      await expect.poll(() => documents).toEqual(['/', '/lazy']);
      await hydrated(page);
      await press(page, where);
      await page.locator('b').waitFor();
      await reported(page, 0);
      expect(documents).toEqual(['/', '/lazy']);
    });

    test('is reported once if one reload does not have it either', async () => {
      const { page, documents } = await goTo('/lazy', (page) => lose(page, PART));
      await press(page, where);
      await expect.poll(() => documents).toEqual(['/', '/lazy']);
      await hydrated(page);
      await press(page, where);
      await heading(page, 'failure');
      const [event] = await reported(page);
      expect(event && toLine(event)).toMatchObject({ kind: 'load', said: expect.stringContaining('lazy-part-') });
      expect(documents).toEqual(['/', '/lazy']);
    });
  });

  test('is reported if it is a style sheet of a document', async () => {
    const { page } = await open('/styled', (page) =>
      page.route('**/assets/styled-*.css', (route) => route.fulfill({ status: 404 })),
    );
    const [event] = await reported(page);
    expect(event && toLine(event)).toMatchObject({ kind: 'load', said: expect.stringContaining('LoadError') });
  });

  test("is reported by the document's first script if it is the main script, with all failures after it", async () => {
    const { page } = await open('/', (page) =>
      page.route('**/assets/main-*.js', (route) => route.fulfill({ status: 404 })),
    );
    await page.evaluate(() => {
      for (const reason of [Symbol('words'), undefined]) void Promise.reject(reason);
    });
    expect(recorder.events).toEqual([]);
    await page.goto('about:blank');
    const events = await reported(page, 3);
    expect(events.map(({ exception }) => exception.values[0])).toMatchObject([
      { type: 'LoadError', value: expect.stringContaining('/assets/main-') },
      { type: 'Error', value: 'Symbol(words)' },
      { type: 'Error', value: 'undefined' },
    ]);
    for (const { header, event_id } of events) expect(header).toMatchObject({ event_id });
  });

  test('does not prevent reports: without the SDK, errors are sent in a minimal envelope', async () => {
    const { page } = await open('/buttons', (page) => page.route('**/assets/courier-*.js', (route) => route.abort()));
    await hydrated(page);
    await press(page, 'handler');
    const [event] = await reported(page);
    expect(event && toLine(event)).toEqual({ said: 'Error: in a handler', via: 'onerror' });
    expect(event?.exception.values[0]?.stacktrace?.frames.at(-1)?.filename).toMatch(/\/assets\/buttons-\w+\.js$/);
    expect(event?.transaction).toBe('/buttons');
    expect(event?.tags['spillway.build']).toMatch(/^[0-9a-f]{12}$/);
  });

  test('does not lose reports if the page is left before the SDK has loaded', async () => {
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const { page } = await open('/buttons', (page) => page.route('**/assets/courier-*.js', () => ask()));
    await hydrated(page);
    await press(page, 'handler');
    await asked;
    await page.goto('about:blank');
    const [event] = await reported(page);
    expect(event && toLine(event)).toEqual({ said: 'Error: in a handler', via: 'onerror' });
  });
});

describe('no report is sent', () => {
  test.each(['/moved', '/lost'])('for a control-flow response: %s', async (path) => {
    const { page } = await goTo(path);
    await heading(page, path === '/moved' ? 'Other' : 'not-found');
    await page.goto(path);
    await reported(page, 0);
  });

  test('for notFound() in a render in the browser', async () => {
    const { page } = await open('/boundary');
    await hydrated(page);
    await press(page, 'lose');
    await heading(page, 'not-found');
    await reported(page, 0);
  });

  test('for aborted requests', async () => {
    const { page } = await open('/buttons');
    await exchanged(page);
    await press(page, 'abort');
    await reported(page, 0);
  });

  test('for a request that fails because the page is left', async () => {
    const { page } = await open('/buttons');
    await exchanged(page);
    await page.evaluate(() => {
      void Promise.reject(new TypeError('Failed to fetch'));
      location.assign('/other');
    });
    await heading(page, 'Other');
    await reported(page, 0);
  });
});

test('a request without a response is reported as a network failure', async () => {
  const { page } = await open('/buttons');
  await hydrated(page);
  await press(page, 'network');
  const [event] = await reported(page);
  expect(event && toLine(event)).toMatchObject({ kind: 'network', via: 'onunhandledrejection' });
});

test('requests to this site have the trace of the document, and requests to other sites do not', async () => {
  const { page } = await open('/', undefined, { bypassCSP: true });
  await exchanged(page);
  const meta = await page.locator('meta[name="sentry-trace"]').getAttribute('content');
  const [traceId] = meta?.split('-') ?? [];
  expect(traceId).toMatch(/^[0-9a-f]{32}$/);
  const asked = page.waitForRequest((request) => request.url().startsWith('http://other.example/'));
  await page.evaluate(async () => {
    await fetch('/other?plain');
    await fetch(new Request('/other?request', { headers: { 'X-Own': '1' } }), { headers: { 'X-Init': '2' } });
    await fetch(
      new Request('/other?kept', { method: 'PUT', body: 'words', headers: { 'X-Own': '1' }, referrer: '/from' }),
    );
    await fetch('http://other.example/').catch(() => undefined);
  });
  for (const path of ['/other?plain', '/other?request', '/other?kept']) {
    const sent = recorder.headers.get(path);
    expect(sent?.['sentry-trace']).toMatch(new RegExp(`^${traceId}-[0-9a-f]{16}$`));
    expect(sent?.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
    expect(sent?.baggage).toContain(`sentry-trace_id=${traceId}`);
  }
  expect(recorder.headers.get('/other?request')).toMatchObject({ 'x-init': '2' });
  expect(recorder.headers.get('/other?request')).not.toHaveProperty('x-own');
  expect(recorder.headers.get('/other?kept')).toMatchObject({
    'x-own': '1',
    'content-length': '5',
    referer: `${recorder.url}/from`,
  });
  expect((await asked).headers()).not.toHaveProperty('sentry-trace');
});
