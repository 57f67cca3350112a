import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shareBrowser, type Watched, watch } from '../../support/browser.ts';
import { findFreePort } from '../../support/free-port.ts';
import { exchanged } from '../site.ts';
import { type DevApp, startDevApp } from './dev-app.ts';

/** Allows for a build under load, which takes seconds (ms). */
const PATIENCE = 40_000;

const HOME = 'src/shared/product/pages/home.tsx';
const WORDS = 'src/server/product/words.ts';

let app: DevApp;
let proxy: Awaited<ReturnType<typeof startProxy>>;
/** The first page, opened directly and through the proxy. Both see the same edits. */
const opened: (Watched & { readonly page: Page })[] = [];

beforeAll(async () => {
  const [own, proxied] = [await findFreePort('127.0.0.2'), await findFreePort()];
  const origins = [`http://127.0.0.2:${own}`, `http://app.localhost:${proxied}`];
  app = await startDevApp(
    {},
    { HOST: '127.0.0.2', PORT: String(own), PUBLIC_ORIGINS: origins.join(','), TRUST_PROXY: 'loopback' },
  );
  proxy = await startProxy(app.url, proxied);
  for (const baseURL of origins) {
    const page = await (await shareBrowser()).newPage({ baseURL });
    page.setDefaultTimeout(PATIENCE);
    opened.push({ page, ...(await watch(page)) });
    await page.goto('/');
    await exchanged(page);
    await page.getByRole('button').click();
    await page.getByLabel('Note').fill('half a senten');
  }
}, 120_000);
afterAll(async () => {
  await Promise.all(opened.map(({ page }) => page.close()));
  await proxy?.stop();
  await app?.stop();
});

async function expectText(selector: string, words: string, pages = opened): Promise<void> {
  for (const { page } of pages) {
    await expect.poll(() => page.locator(selector).innerText(), { timeout: PATIENCE }).toContain(words);
  }
}

async function expectKept(): Promise<void> {
  await expectText('button', 'clicked 1');
  for (const { page, documents } of opened) {
    expect([await page.getByLabel('Note').inputValue(), documents]).toEqual(['half a senten', ['/']]);
  }
}

describe('an edit is shown directly, and behind a proxy that changes host and port', () => {
  test('without losing state', async () => {
    app.edit(HOME, 'First words', 'Second words');
    await expectText('h1', 'Second words');
    app.edit(WORDS, 'from the loader', 'from another loader');
    await expectText('#data', 'from another loader');
    await expectKept();
    expect(opened.map(({ complaints }) => complaints)).toEqual([[], []]);
  });

  test('after the proxy has answered 502 for a while, as when npm run dev is restarted', async () => {
    proxy.cutOff();
    await expect.poll(proxy.countRefused, { timeout: PATIENCE }).toBeGreaterThan(0);
    app.edit(HOME, 'Second words', 'Third words');
    await expectText('h1', 'Third words', opened.slice(0, 1));
    proxy.reconnect();
    await expectText('h1', 'Third words');
    await expectKept();
  });

  test('and so is a failure that it causes', async () => {
    app.edit(HOME, '<p>{seen}</p>', '<p>{seen.no.where}</p>');
    await expectText('[role="alertdialog"]', 'home.tsx:16:19 (open in editor)');
  });
});

/** A proxy that forwards data without buffering. */
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
    // Each request has its own connection: the server of before an edit can close one while a request is on its way.
    const asked = request({ host: hostname, port: upstreamPort, method, path, headers, agent: false }, (reply) => {
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
    /** Closes open connections and answers 502 from now on. */
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
