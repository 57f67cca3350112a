import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { launchBrowser, type Watched, watch } from '../../support/browser.ts';
import { type DevApp, startDevApp } from '../../support/dev-app.ts';
import { findFreePort } from '../../support/free-port.ts';
import { hasNginx, startNginx } from '../../support/nginx.ts';
import { exchanged } from '../site.ts';

/** A build under load takes seconds. */
const PATIENCE = { timeout: 20_000 };

const HOME = 'src/shared/product/pages/home.tsx';
const WORDS = 'src/server/product/words.ts';

let browser: Browser;
let app: DevApp | undefined;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterEach(async () => {
  await app?.stop();
  app = undefined;
}, 30_000);
afterAll(() => browser?.close());

interface Opened extends Watched {
  readonly page: Page;
}

/** The first page, with a count and a text that a reload would lose. */
async function openHome(url: string): Promise<Opened> {
  const page = await browser.newPage({ baseURL: url });
  onTestFinished(() => page.close());
  page.setDefaultTimeout(PATIENCE.timeout);
  const watched = await watch(page);
  await page.goto('/');
  await exchanged(page);
  await page.getByRole('button').click();
  await page.getByRole('button', { name: 'clicked 1' }).waitFor();
  await page.getByLabel('Note').fill('half a senten');
  return { page, ...watched };
}

async function expectKept({ page, documents }: Opened): Promise<void> {
  await page.getByRole('button', { name: 'clicked 1' }).waitFor();
  expect(await page.getByLabel('Note').inputValue()).toBe('half a senten');
  expect(documents).toEqual(['/']);
}

/** Edits of a page and of the server, and a failure that the overlay tells. */
async function expectFastRefresh(app: DevApp, opened: Opened): Promise<void> {
  const { page } = opened;
  app.edit(HOME, 'First words', 'Second words');
  await page.getByRole('heading', { name: 'Second words' }).waitFor();
  app.edit(WORDS, 'from the loader', 'from another loader');
  await page.getByText('from another loader').waitFor();
  app.edit(HOME, 'Second words', 'Third words');
  await page.getByRole('heading', { name: 'Third words' }).waitFor();
  expect(opened.complaints).toEqual([]);
  await expectKept(opened);
  app.edit(HOME, '<p>{seen}</p>', '<p>{seen.no.where}</p>');
  await page.getByRole('alertdialog').filter({ hasText: 'home.tsx:16:19 (open in editor)' }).waitFor();
}

describe('an edit is shown, and costs no state,', () => {
  test.each(['127.0.0.2', 'localhost'])('on HOST=%s', async (host) => {
    app = await startDevApp({}, { HOST: host });
    await expectFastRefresh(app, await openHome(app.url));
  });

  test.skipIf(!hasNginx)(`behind nginx, which buffers${hasNginx ? '' : ' (skipped: there is none)'}`, async () => {
    const { port, origin, settings } = await choosePublicOrigin();
    app = await startDevApp({}, settings);
    const nginx = await startNginx({
      port,
      upstream: new URL(app.url).host,
      directives: 'proxy_set_header X-Forwarded-Host $http_host; proxy_set_header X-Forwarded-Proto $scheme;',
    });
    onTestFinished(nginx.stop);
    await expectFastRefresh(app, await openHome(origin));
  });

  test('behind a proxy that changes host and port', async () => {
    const { port, origin, settings } = await choosePublicOrigin();
    app = await startDevApp({}, settings);
    const proxy = await startProxy(app.url, port);
    onTestFinished(proxy.stop);
    await expectFastRefresh(app, await openHome(origin));
  });

  test('after the proxy has answered 502 for a while, as while npm run dev is started again', async () => {
    const { port, origin, settings } = await choosePublicOrigin();
    app = await startDevApp({}, settings);
    const proxy = await startProxy(app.url, port);
    onTestFinished(proxy.stop);
    const opened = await openHome(origin);
    proxy.cutOff();
    await expect.poll(proxy.countRefused, PATIENCE).toBeGreaterThan(0);
    app.edit(HOME, 'First words', 'Second words');
    await expect.poll(app.output, PATIENCE).toContain('home.tsx: built');
    proxy.reconnect();
    await opened.page.getByRole('heading', { name: 'Second words' }).waitFor();
    await expectKept(opened);
  });
});

/** Another host and port than the server's own, and the settings that a proxy asks for. */
async function choosePublicOrigin() {
  const port = await findFreePort();
  const origin = `http://app.localhost:${port}`;
  return { port, origin, settings: { HOST: '127.0.0.2', PUBLIC_ORIGINS: origin, TRUST_PROXY: 'loopback' } };
}

/** Hands each piece on as it comes. */
async function startProxy(upstream: string, port: number) {
  let isCutOff = false;
  let refused = 0;
  const { hostname, port: upstreamPort } = new URL(upstream);

  function forward(req: IncomingMessage, res: ServerResponse): void {
    if (isCutOff) {
      refused += 1;
      res.writeHead(502).end();
      return;
    }
    const headers = {
      ...req.headers,
      host: `${hostname}:${upstreamPort}`,
      'x-forwarded-host': req.headers.host,
      'x-forwarded-proto': 'http',
    };
    const { method, url: path } = req;
    const asked = request({ host: hostname, port: upstreamPort, method, path, headers }, (reply) => {
      res.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(res);
      reply.on('error', () => res.destroy());
    });
    asked.on('error', () => (res.headersSent ? res.destroy() : res.writeHead(502).end()));
    res.on('close', () => asked.destroy());
    req.pipe(asked);
  }

  const server = createServer(forward);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    countRefused: () => refused,
    /** Ends what is open and answers 502 from here on. */
    cutOff() {
      isCutOff = true;
      server.closeAllConnections();
    },
    reconnect() {
      isCutOff = false;
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
