import type { Page, Response } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { MAX_PAGE_REPORTS } from '../../../src/shared/shared-limits.ts';
import { type OwnedApp, type RunningApp, startApp } from '../../support/owned-app.ts';
import { DIGEST, type RecordedEvent, type Recorder, startRecorder } from '../report-recorder.ts';
import {
  exchanged,
  heading,
  hydrated,
  isSameDocument,
  link,
  markDocument,
  press,
  usePages,
  type Visit,
  type VisitOptions,
} from '../site.ts';
import { createFailingApp } from './failing-app.ts';

const ADDRESS = /^[0-9A-HJKMNP-TV-Z]{8}-[0-9A-HJKMNP-TV-Z]{8}$/;

let clone: OwnedApp;
let app: RunningApp;
let recorder: Recorder;

beforeAll(async () => {
  clone = createFailingApp();
  await clone.build();
  app = await startApp(clone.folder);
  recorder = await startRecorder(app.url);
});

// Before `usePages`, so that it runs after the pages are closed.
afterEach(() => {
  recorder.events.length = 0;
});

const openPage = usePages(() => recorder.url);
/** Opens a page in the shared profile, so `before` must leave nothing in it. */
const open = (path: string, options?: VisitOptions) => openPage(path, { isAlone: false, ...options });

afterAll(async () => {
  await recorder?.stop();
  await app?.stop();
  clone.remove();
});

/** Follows a link of the home page, after the router and the chunk that reports failures in detail are loaded. */
async function goTo(path: string, before?: VisitOptions['before']): Promise<Visit> {
  let courier: Promise<Response> | undefined;
  const opened = await open('/', {
    async before(page) {
      courier = page.waitForResponse(/\/courier-/);
      await before?.(page);
    },
  });
  await exchanged(opened.page);
  await markDocument(opened.page);
  await (await courier)?.finished();
  await link(opened.page, path).click();
  return opened;
}

const LAST = 'the last failure of this page';

/** Returns the reported events, in the order in which they happened: several can arrive in any. Causes another failure, which the console does not show, to detect surplus reports. */
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
  const events = others().sort((one, other) => one.timestamp - other.timestamp);
  expect(events.map(toLine)).toHaveLength(count);
  return events;
}

/** A short description of a report. */
function toLine({ exception, tags }: RecordedEvent) {
  const { type, value, mechanism } = exception.values.at(-1) ?? {};
  const [kind, echo] = [tags['spillway.kind'], tags['spillway.echo']];
  return { said: `${type}: ${value}`, via: mechanism?.type, ...(kind && { kind }), ...(echo && { echo }) };
}

/** Returns the only event that a page reports. */
async function readReport(page: Page): Promise<RecordedEvent> {
  const [event] = await reported(page);
  if (!event) throw new Error('It was reported.');
  return event;
}

/** A button, what is reported after a click on it, and what the console shows. */
type Failing = readonly [button: string | undefined, line: object, complaint?: string];

test.each<[what: string, path: string, ...failures: Failing[]]>([
  [
    'in an event or in a promise',
    '/buttons',
    ['handler', { said: 'Error: in a handler', via: 'onerror' }, 'page error: in a handler'],
    ['words', { said: 'NonError: only words', via: 'onerror' }, 'page error: only words'],
    ['rejection', { said: 'TypeError: rejected', via: 'onunhandledrejection' }, 'page error: rejected'],
  ],
  ['in a request without a response', '/buttons', ['network', { kind: 'network', via: 'onunhandledrejection' }]],
  [
    'in a render',
    '/boundary',
    ['fail', { said: 'Error: in a render', via: 'react.caught' }, 'error: Error: in a render'],
  ],
  ['in a render that is a text', '/boundary', ['words', { said: 'NonError: words in a render', via: 'react.caught' }]],
  ['in an effect', '/effect', [undefined, { said: 'Error: in an effect', via: 'react.caught' }]],
  [
    'outside all error boundaries',
    '/',
    ['bomb', { said: 'Error: outside of everything', via: 'react.uncaught' }, 'page error: outside of everything'],
  ],
  [
    'on a page without a nonce',
    '/kept',
    ['handler', { said: 'Error: in a kept page', via: 'onerror' }, 'page error: in a kept page'],
  ],
  [
    'that is a hydration mismatch',
    '/mismatch',
    [undefined, { via: 'react.recoverable', kind: 'hydration' }, 'error #418'],
  ],
  ['during a hydration', '/throwing', [undefined, { said: 'Error: while hydrating', via: 'react.recoverable' }]],
])('an error in the browser is reported once, and logged to the console: %s', async (_what, path, ...failures) => {
  const { page, complaints } = await open(path, {
    before: (page) => page.addInitScript(() => Object.assign(globalThis, { hydratesBadly: true })),
  });
  await hydrated(page, 'body');
  for (const [button] of failures) if (button) await press(page, button);
  const events = await reported(page, failures.length);
  expect(events.map(toLine)).toMatchObject(failures.map(([, line]) => line));
  const expected = failures.flatMap(([, , complaint]) => complaint ?? []);
  if (expected.length > 0) expect(complaints).toEqual(expected.map((text) => expect.stringContaining(text)));
  if (path === '/boundary') expect(await page.getByText(new RegExp(`^${DIGEST}-`)).innerText()).toMatch(ADDRESS);
  for (const [index, event] of events.entries()) {
    expect(toLine(event)).not.toHaveProperty('echo');
    if (event.contexts?.react) expect(event.contexts.react.componentStack).toContain('\n    at ');
    expect(event).toMatchObject({ transaction: path, request: { url: recorder.url + path } });
    expect(event.tags['spillway.build']).toMatch(/^[0-9a-f]{12}$/);
    expect(event.header.dsn).toBe(`https://spillway@${new URL(recorder.url).host}/1`);
    // A thrown string has no stack. Of its origin, only React's own frame is known.
    const frame = event.exception.values[0]?.stacktrace?.frames.at(-1);
    if (failures[index]?.[0] === 'handler') expect(frame?.filename).toMatch(/\/assets\/(?:buttons|kept)-\w+\.js$/);
    if (event.tags['spillway.kind'] === 'hydration') {
      expect(event.contexts?.react?.meaning).toContain('The text rendered by the server does not match the browser.');
    }
  }
});

describe('an error in the browser', () => {
  test('that the app handled is reported if it calls report(), with its level, tags and data', async () => {
    const { page, complaints } = await open('/buttons');
    await hydrated(page);
    await press(page, 'handled');
    const event = await readReport(page);
    expect(toLine(event)).toEqual({ said: 'Error: handled', via: 'report' });
    expect(event).toMatchObject({ level: 'warning', tags: { plan: 'pro' }, extra: { step: 2 } });
    expect(event.exception.values[0]?.mechanism).toMatchObject({ handled: true });
    expect(complaints).toEqual([]);
  });

  test('in the module of a page is reported as it is, and not as a module that did not load', async () => {
    const { page } = await open('/evaluated');
    expect(toLine(await readReport(page))).toEqual({
      said: 'Error: while its module ran',
      via: 'onerror',
    });
  });

  test('is reported each time, with what the visitor did before it, by selectors that find it again', async () => {
    const { page } = await goTo('/buttons');
    await heading(page, 'Buttons');
    await page.waitForLoadState('networkidle');
    await page.getByText('link').click();
    await press(page, 'later');
    await press(page, 'words');
    const [first, second] = await reported(page, 2);
    expect(first?.breadcrumbs?.map(({ category }) => category)).toEqual(
      expect.arrayContaining(['ui.click', 'console']),
    );
    expect(first?.breadcrumbs).toContainEqual(expect.objectContaining({ message: 'a[href^="/other"]' }));
    expect(JSON.stringify(first)).not.toContain('Acme');
    expect(first?.contexts?.trace?.trace_id).toMatch(/^[0-9a-f]{32}$/);
    const { category, message = '' } = second?.breadcrumbs?.findLast(({ category }) => category === 'ui.click') ?? {};
    expect([category, await page.locator(message).innerText()]).toEqual(['ui.click', 'words']);
  });

  test('before the page is hydrated is reported with the time at which it happened', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { page } = await open('/', {
      isAlone: true,
      before: async (page) => {
        await page.route('**/assets/main-*.js', (route) => released.then(() => route.continue()));
        page.once('pageerror', () => setTimeout(release, 500)); // The report must not contain this later time.
        await page.addInitScript(() => {
          document.addEventListener('readystatechange', () => {
            if (document.readyState !== 'interactive') return;
            (window as { failedAt?: number }).failedAt = Date.now();
            throw new Error('very early');
          });
        });
      },
    });
    const event = await readReport(page);
    expect(toLine(event)).toEqual({ said: 'Error: very early', via: 'onerror' });
    const failedAt = await page.evaluate(() => (window as { failedAt?: number }).failedAt ?? 0);
    expect(Math.abs(event.timestamp * 1000 - failedAt)).toBeLessThan(300);
  });
});

describe('a failure of the server is reported as an echo, once', () => {
  test.each<[what: string, visit: () => Promise<Visit>, line?: object]>([
    ['from a loader, in a document', () => open('/loader')],
    ['from a loader, in page data', () => goTo('/loader')],
    ['from an action', () => open('/acting')],
    ['from a deferred value that two components wait for, in a document', () => open('/late')],
    ['from a deferred value that two components wait for, after a navigation', () => goTo('/late')],
    ['from a component that the browser could render', () => open('/once'), { via: 'react.recoverable' }],
    ['from a component that the browser could not render', () => open('/twice'), { via: 'react.caught' }],
  ])('%s', async (_what, visit, line) => {
    const { page } = await visit();
    if (new URL(page.url()).pathname === '/acting') {
      await exchanged(page);
      await press(page, 'act');
    }
    const address = line ? expect.stringMatching(ADDRESS) : await page.getByText(ADDRESS).first().innerText();
    expect(toLine(await readReport(page))).toMatchObject({ ...line, echo: address });
  });
});

/** Answers 404 for a file, once or always. */
const lose = (page: Page, url: string, options = {}) =>
  page.route(url, (route) => route.fulfill({ status: 404 }), options);

const PART = '**/assets/lazy-part-*.js';

describe('a file that does not load', () => {
  test.each<[times: number, what: string, path: string, url: string, said: string, button?: string]>([
    [1, 'code of a page', '/other', '**/assets/other-*.js', ''],
    [99, 'code of a page', '/other', '**/assets/other-*.js', 'RouteLoadError'],
    [99, 'styles of a page', '/styled', '**/assets/styled-*.css', 'LoadError'],
    [99, 'React.lazy in a page', '/lazy', PART, 'lazy-part-', 'in the page'],
    [1, 'React.lazy in a boundary', '/lazy', PART, '', 'in a boundary'],
    [99, 'React.lazy in a boundary', '/lazy', PART, 'lazy-part-', 'in a boundary'],
  ])(
    'is reported only if the document that is loaded instead does not have it: missing %i times, %s',
    async (times, _what, path, url, said, button) => {
      const { page, documents } = await goTo(path, (page) => lose(page, url, { times }));
      if (button) await press(page, button);
      await expect.poll(() => documents).toEqual(['/', path]);
      await expect.poll(() => isSameDocument(page)).toBe(false);
      if (times === 1 || button) await hydrated(page);
      if (button) await press(page, button);
      if (button && times === 1) await page.locator('b').waitFor();
      if (times === 1) await reported(page, 0);
      else expect(toLine(await readReport(page))).toMatchObject({ kind: 'load', said: expect.stringContaining(said) });
      expect(documents).toEqual(['/', path]);
    },
  );

  test('is reported if it is a style sheet of a document', async () => {
    const { page } = await open('/styled', { before: (page) => lose(page, '**/assets/styled-*.css') });
    expect(toLine(await readReport(page))).toMatchObject({ kind: 'load', said: expect.stringContaining('LoadError') });
  });

  test("is reported by the document's first script if it is the main script, with the first failures after it", async () => {
    const { page } = await open('/', { before: (page) => lose(page, '**/assets/main-*.js') });
    await page.evaluate(() => {
      for (const reason of [Symbol('words'), ...Array(150)]) void Promise.reject(reason);
    });
    expect(recorder.events).toEqual([]);
    await page.goto('about:blank');
    const events = await reported(page, MAX_PAGE_REPORTS - 1); // The failed preload is kept too, but not sent.
    // They arrive in any order.
    const thrown = events.map(({ exception }) => exception.values[0]);
    for (const [type, value] of [
      ['LoadError', expect.stringContaining('/assets/main-')],
      ['Error', 'Symbol(words)'],
      ['Error', 'undefined'],
    ]) {
      expect(thrown).toContainEqual(expect.objectContaining({ type, value }));
    }
    for (const { header, event_id } of events) expect(header).toMatchObject({ event_id });
  });

  test.each(['cannot be loaded', 'has not loaded when the page is left'])(
    'does not prevent reports: an error is sent in a minimal envelope if the SDK %s',
    async (what) => {
      const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
      const { page } = await open('/buttons', {
        before: (page) =>
          page.route('**/assets/courier-*.js', (route) => (what === 'cannot be loaded' ? route.abort() : ask())),
      });
      await hydrated(page);
      await press(page, 'handler');
      if (what !== 'cannot be loaded') {
        await asked;
        await page.goto('about:blank');
      }
      const event = await readReport(page);
      expect(toLine(event)).toEqual({ said: 'Error: in a handler', via: 'onerror' });
      expect(event.exception.values[0]?.stacktrace?.frames.at(-1)?.filename).toMatch(/\/assets\/buttons-\w+\.js$/);
      expect(event).toMatchObject({ transaction: '/buttons', tags: { 'spillway.build': expect.any(String) } });
    },
  );
});

describe('no report is sent', () => {
  test.each(['/moved', '/lost'])('for a control-flow response: %s', async (path) => {
    const { page } = await goTo(path);
    await heading(page, path === '/moved' ? 'Other' : 'not-found');
    await page.goto(path);
    await reported(page, 0);
  });

  test('for notFound() in a render in the browser, for aborted requests, and for requests that end with the page', async () => {
    const { page } = await open('/boundary');
    await hydrated(page);
    await press(page, 'lose');
    await heading(page, 'not-found');
    await page.goto('/buttons');
    await exchanged(page);
    await press(page, 'abort');
    await page.evaluate(() => {
      // Such a report waits for a second, in which a slow machine does not leave the page.
      Object.assign(window, { setTimeout: () => 0 });
      void Promise.reject(new TypeError('Failed to fetch'));
      location.assign('/other');
    });
    await heading(page, 'Other');
    await reported(page, 0);
  });
});

test('requests to this site have the trace of the document, and requests to other sites do not', async () => {
  const { page } = await open('/', {
    bypassCSP: true,
    before: (page) => page.route('http://other.example/', (route) => route.abort()), // asks no name server
  });
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
