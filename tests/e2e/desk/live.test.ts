import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import type { Page, Request } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasNginx, startNginx } from '../../support/nginx.ts';
import { listViolations } from '../accessible.ts';
import { exchanged, isSameDocument, markDocument, useSite, type VisitOptions } from '../site.ts';
import { deskSession } from './session.ts';

const site = useSite(async () => ({}));

/** How often each failure was caused, by digest. */
const caused = new Map<string, number>();

/** Causes a failure, which the store ingests a little later. @returns its digest */
async function cause(path: string): Promise<string> {
  const reply = await fetch(site.url + path, { headers: { accept: 'text/html' } });
  const address = reply.headers.get('x-error-digest') ?? '';
  expect(address).toMatch(/^\w{8}-\w{8}$/);
  const digest = address.slice(0, 8);
  caused.set(digest, (caused.get(digest) ?? 0) + 1);
  return digest;
}

/** Causes a failure and waits until the store has it, so that a page that is opened now shows it. */
async function fail(path: string): Promise<string> {
  const digest = await cause(path);
  const token = readFileSync(join(site.server.dataDir, 'desk-token'), 'utf8').trim();
  const headers = { authorization: `Bearer ${token}` };
  const isKept = async () => {
    const reply = await fetch(`${site.url}/api/desk/incidents/${digest}`, { headers });
    if (!reply.ok) return false;
    const { counts } = (await reply.json()) as { counts: { server: number } };
    return counts.server === caused.get(digest);
  };
  await expect.poll(isKept).toBe(true);
  return digest;
}

const openDesk = (path: string, options: VisitOptions = {}) =>
  site.open(path, { viewport: { width: 1280, height: 900 }, session: deskSession, ...options });

/** Installs a fake clock, which tests advance before they read, because the page polls at most every two seconds. */
const STEPPED: VisitOptions = { before: (page) => page.clock.install() };

const after =
  <T>(page: Page, read: () => Promise<T>, ms = 500) =>
  async () => {
    await page.clock.runFor(ms);
    return read();
  };

const isState = (page: Page, state: string) => page.locator(`[data-live="${state}"]`).waitFor();

async function readCount(page: Page, digest: string): Promise<number> {
  const text = await page.locator('[data-row]', { hasText: digest }).locator('strong').textContent();
  return Number(text?.replaceAll(',', ''));
}

/** The digest and position of each row. */
const readRows = (page: Page) =>
  page
    .locator('[data-row]')
    .evaluateAll((rows) =>
      rows.map((row) => [row.querySelector('code:last-of-type')?.textContent, row.getBoundingClientRect().top]),
    );

describe('the list', () => {
  test('shows the first incident if it was empty, and moves no rows after that', async () => {
    const { page } = await openDesk('/desk', STEPPED);
    await exchanged(page);
    await isState(page, 'live');
    expect(await readRows(page)).toEqual([]);
    const digest = await fail('/tour/fail/loader');
    await expect.poll(after(page, () => page.getByRole('checkbox').count())).toBe(1);
    await page.getByRole('checkbox').check();
    await fail('/api/tour/fail');
    const news = page.getByRole('button', { name: 'Show 1 new incident' });
    await expect.poll(after(page, () => news.count())).toBe(1);
    expect(await readRows(page)).toEqual([[digest, expect.any(Number)]]);
  });

  test('updates counts in place, and announces new incidents without moving any rows', async () => {
    const digest = await fail('/tour/fail/loader');
    await fail('/api/tour/fail');
    const { page, complaints } = await openDesk('/desk', STEPPED);
    await exchanged(page);
    await isState(page, 'live');
    await markDocument(page);
    // Simulates an operator at work: a row is ticked, a search half typed, the page scrolled.
    await page.getByRole('checkbox').first().check();
    await page.getByRole('searchbox').fill('half a w');
    const before = await readRows(page);
    const count = await readCount(page, digest);

    for (let times = 0; times < 3; times++) await fail('/tour/fail/loader');
    await expect.poll(after(page, () => readCount(page, digest))).toBe(count + 3);
    const newcomer = await fail('/tour/fail/render');
    const news = page.getByRole('button', { name: 'Show 1 new incident' });
    await expect.poll(after(page, () => news.count())).toBe(1);
    await page.getByRole('status').filter({ hasText: '1 new' }).waitFor();
    expect(await readRows(page)).toEqual(before);
    expect(await page.getByRole('checkbox').first().isChecked()).toBe(true);
    expect(await page.getByRole('searchbox').inputValue()).toBe('half a w');

    await news.click();
    await page.locator('[data-row]', { hasText: newcomer }).waitFor();
    await expect.poll(() => news.count()).toBe(0);
    // The focus is set in the next frame.
    await expect.poll(() => page.evaluate(() => document.activeElement?.hasAttribute('data-open'))).toBe(true);
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(1);
    expect(await isSameDocument(page)).toBe(true);
    expect(complaints).toEqual([]);
  });

  test('shows new incidents when the key n is pressed', async () => {
    const { page } = await openDesk('/desk', STEPPED);
    await exchanged(page);
    await isState(page, 'live');
    await page.keyboard.press('j');
    // The second row's failure happens again, so that it would now be first.
    const second = await page.locator('[data-row] code:last-of-type').nth(1).textContent();
    const path = (await page.locator('[data-open]').nth(1).textContent())?.includes('loader')
      ? '/tour/fail/loader'
      : '/tour/fail/render';
    const digest = await fail(path);
    await expect.poll(after(page, () => page.locator('[data-news]').count())).toBe(1);
    expect(await page.locator('[data-row] code:last-of-type').nth(1).textContent()).toBe(second);
    await page.keyboard.press('n');
    await expect.poll(() => page.locator('[data-row] code:last-of-type').first().textContent()).toBe(digest);
  });

  test('polls rarely during a storm of failures, and nothing shifts while counts grow', async () => {
    const { page, data } = await openDesk('/desk');
    await exchanged(page);
    await isState(page, 'live');
    await page.evaluate(() => {
      const shifts: number[] = [];
      Object.assign(window, { shifts });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) shifts.push((entry as unknown as { value: number }).value);
      }).observe({ type: 'layout-shift' });
    });
    await page.mouse.move(400, 400);
    data.length = 0;
    const began = performance.now();
    while (performance.now() < began + 3000)
      await Promise.all(Array.from({ length: 4 }, () => cause('/tour/fail/loader')));
    const asked = data.filter(({ path }) => path.startsWith('/desk/_data'));
    expect(asked.filter(({ method }) => method === 'GET').length).toBeGreaterThanOrEqual(1);
    const gaps = (performance.now() - began) / 2000;
    expect(asked.filter(({ method }) => method === 'GET').length).toBeLessThanOrEqual(2 + gaps);
    // The only shift allowed is that of a count, whose left edge moves when it gains a digit.
    const shifts = await page.evaluate(() => (window as unknown as { shifts: number[] }).shifts);
    expect(Math.max(0, ...shifts)).toBeLessThan(0.0005);
  });

  test('is updated each time that opening a stream fails', async () => {
    const digest = await fail('/tour/fail/loader');
    const { page, data } = await openDesk('/desk', {
      async before(page) {
        await page.clock.install();
        await page.route('**/desk/live', (route) => route.abort());
      },
    });
    await exchanged(page);
    await expect.poll(after(page, () => page.locator('[data-live="delayed"]').count())).toBe(1);
    await page.mouse.move(400, 400);
    const count = await readCount(page, digest);
    data.length = 0;
    await fail('/tour/fail/loader');
    await expect.poll(after(page, () => readCount(page, digest), 15_000)).toBe(count + 1);
    // One GET gets the change. HEAD requests before it are those that came before the store had ingested the failure.
    expect(data.map(({ method }) => method).join(' ')).toMatch(/^(?:HEAD )*GET(?: HEAD)*$/);
  });
});

describe('an incident', () => {
  test('updates counts, keeps the shown occurrence and typed text, and shows the latest on request', async () => {
    const digest = await fail('/tour/fail/render');
    const { page, complaints } = await openDesk(`/desk/${digest}`, STEPPED);
    await exchanged(page);
    await isState(page, 'live');
    const note = page.getByRole('textbox', { name: 'Note' });
    await note.fill('Half a thou');
    await note.focus();
    await page.evaluate(() => window.scrollTo(0, 120));
    const which = page.getByRole('region', { name: 'Occurrence' }).locator('code').first();
    const shown = await which.textContent();
    const times = page.locator('dt', { hasText: 'Happened' }).locator('xpath=following-sibling::dd');
    const before = await times.textContent();
    await fail('/tour/fail/render');
    const news = page.getByRole('button', { name: 'Show the latest occurrence' });
    await expect.poll(after(page, () => news.count())).toBe(1);
    expect(await times.textContent()).not.toBe(before);
    expect(await which.textContent()).toBe(shown);
    expect(await note.inputValue()).toBe('Half a thou');
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA');
    expect(await page.evaluate(() => window.scrollY)).toBe(120);
    expect(await listViolations(page)).toEqual([]);
    await news.click();
    await expect.poll(() => which.textContent()).not.toBe(shown);
    expect(await note.inputValue()).toBe('Half a thou');
    expect(complaints).toEqual([]);
  });

  test('shows changes made in another tab', async () => {
    const digest = await fail('/tour/fail/render');
    const { page } = await openDesk(`/desk/${digest}`, STEPPED);
    const other = await page.context().newPage();
    await other.goto(`/desk/${digest}`);
    await exchanged(other);
    await exchanged(page);
    await isState(page, 'live');
    await isState(other, 'live');
    await other.getByRole('button', { name: 'Resolve' }).click();
    await other.getByText('Resolved.', { exact: true }).waitFor();
    const reopen = page.getByRole('button', { name: 'Reopen' });
    await expect.poll(after(page, () => reopen.count())).toBe(1);
    await reopen.click();
    const resolve = other.getByRole('button', { name: 'Resolve' });
    await expect.poll(after(page, () => resolve.count())).toBe(1);
  });
});

test('a stream that is cut after the session ended is not reopened, and the page asks the operator to sign in', async () => {
  const wire = await startWire(site.url);
  const { page } = await site.open('/desk', { baseURL: wire.url });
  await page.getByLabel('Token').fill(readFileSync(join(site.server.dataDir, 'desk-token'), 'utf8').trim());
  await page.getByRole('button', { name: 'Sign in' }).click();
  await isState(page, 'live');
  const other = await page.context().newPage();
  await other.goto('/desk');
  await other.getByRole('button', { name: 'Sign out' }).click();
  await other.getByLabel('Token').waitFor();
  wire.cut();
  await page.getByLabel('Token').waitFor();
  await page.context().close();
  wire.stop();
});

/** Forwards connections to a server. `cut()` destroys the open ones. */
async function startWire(url: string) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const far = connect(Number(new URL(url).port), '127.0.0.1');
    pipeline(socket, far, socket, () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    stop: () => server.close(),
  };
}

test('a hidden tab has no stream, and updates when it is visible again', async () => {
  const digest = await fail('/tour/fail/loader');
  const inFlight = new Set<Request>();
  let asked = 0;
  const { page, data } = await openDesk('/desk', {
    before(page) {
      page.on('request', (request) => {
        if (!request.url().includes('/desk/_data')) return;
        inFlight.add(request);
        asked += 1;
      });
      page.on('requestfinished', (request) => void inFlight.delete(request));
      page.on('requestfailed', (request) => void inFlight.delete(request));
      return page.clock.install();
    },
  });
  await exchanged(page);
  await isState(page, 'live');
  const turn = (state: string) =>
    page.evaluate((visibility) => {
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => visibility });
      document.dispatchEvent(new Event('visibilitychange'));
    }, state);
  const ended = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/desk/live'));
  await turn('hidden');
  await ended;
  // A response to an earlier request is still shown.
  const isIdle = async () => {
    const [before, open] = [asked, inFlight.size];
    await page.clock.runFor(500);
    return open === 0 && inFlight.size === 0 && asked === before;
  };
  await expect.poll(isIdle).toBe(true);
  const count = await readCount(page, digest);
  await fail('/tour/fail/loader');
  data.length = 0;
  await page.clock.runFor(30_000);
  expect(data).toEqual([]);
  expect(await readCount(page, digest)).toBe(count);
  await turn('visible');
  await expect.poll(() => readCount(page, digest)).toBe(count + 1);
});

test.skipIf(!hasNginx)(
  'the stream works through nginx with its default configuration (skipped if not installed), and is reopened after a cut',
  async () => {
    const digest = await fail('/tour/fail/loader');
    const upstream = new URL(site.url).host;
    let nginx = await startNginx({ upstream });
    const { page } = await openDesk('/desk', { baseURL: `http://127.0.0.1:${nginx.port}` });
    await exchanged(page);
    await isState(page, 'live');
    await page.mouse.move(400, 400);
    const count = await readCount(page, digest);
    await fail('/tour/fail/loader');
    await expect.poll(() => readCount(page, digest)).toBe(count + 1);

    await nginx.stop();
    await fail('/tour/fail/loader');
    nginx = await startNginx({ upstream, port: nginx.port });
    await expect.poll(() => readCount(page, digest)).toBe(count + 2);
    await isState(page, 'live');
    await page.close();
    await nginx.stop();
  },
  60_000,
);

test.each([
  ['/desk/no/such/page', false],
  ['/desk/0000000Z', true],
])('keeps a desk page without content open: %s', async (path, isAsked) => {
  const digest = await fail('/tour/fail/loader');
  let answered = 0;
  const { page } = await openDesk(path, {
    before: (page) => {
      // The page does not read the whole response, so 'requestfinished' is not always emitted.
      page.on('response', (response) => {
        if (response.url().includes('/desk/_data/')) answered += 1;
      });
      return page.clock.install();
    },
  });
  await exchanged(page);
  await isState(page, 'live');
  await markDocument(page);
  // When this page has received the change, the other page has too.
  const list = await page.context().newPage();
  await list.goto('/desk');
  await isState(list, 'live');
  const count = await readCount(list, digest);
  const answeredBefore = answered;
  await fail('/tour/fail/loader');
  await expect.poll(() => readCount(list, digest)).toBe(count + 1);
  await page.clock.runFor(3000); // longer than the minimum polling interval
  if (isAsked) await expect.poll(after(page, async () => answered)).toBeGreaterThan(answeredBefore);
  else expect(answered).toBe(0);
  expect(await isSameDocument(page)).toBe(true);
  await isState(page, 'live');
});
