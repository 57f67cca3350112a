import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shareBrowser, type Watched, watch } from '../../support/browser.ts';
import { findFreePort } from '../../support/free-port.ts';
import { hasNginx, type Nginx, startNginx } from '../../support/nginx.ts';
import { exchanged } from '../site.ts';
import { type DevApp, startDevApp } from './dev-app.ts';

/** Allows for a build under load, which takes seconds (ms). */
const PATIENCE = 40_000;

const HOME = 'src/shared/product/pages/home.tsx';
const WORDS = 'src/server/product/words.ts';

interface Opened extends Watched {
  readonly page: Page;
}

let app: DevApp;
let proxy: Awaited<ReturnType<typeof startProxy>>;
let nginx: Nginx | undefined;
/** The first page, opened in each way of reaching the server. All of them see the same edits. */
const opened = new Map<string, Opened>();

beforeAll(async () => {
  const [own, proxied, throughNginx] = [await findFreePort('127.0.0.2'), await findFreePort(), await findFreePort()];
  const origins = {
    direct: `http://127.0.0.2:${own}`,
    proxy: `http://app.localhost:${proxied}`,
    ...(hasNginx && { nginx: `http://app.localhost:${throughNginx}` }),
  };
  app = await startDevApp(
    {},
    {
      HOST: '127.0.0.2',
      PORT: String(own),
      PUBLIC_ORIGINS: Object.values(origins).join(','),
      TRUST_PROXY: 'loopback',
    },
  );
  proxy = await startProxy(app.url, proxied);
  if (hasNginx) {
    nginx = await startNginx({
      port: throughNginx,
      upstream: new URL(app.url).host,
      directives: 'proxy_set_header X-Forwarded-Host $http_host; proxy_set_header X-Forwarded-Proto $scheme;',
    });
  }
  for (const [way, origin] of Object.entries(origins)) opened.set(way, await openHome(origin));
}, 120_000);
afterAll(async () => {
  await Promise.all([...opened.values()].map(({ page }) => page.close()));
  await nginx?.stop();
  await proxy?.stop();
  await app?.stop();
});

/** Opens the first page, with a count and a text that a reload would lose. */
async function openHome(url: string): Promise<Opened> {
  const browser = await shareBrowser();
  const page = await browser.newPage({ baseURL: url });
  page.setDefaultTimeout(PATIENCE);
  const watched = await watch(page);
  await page.goto('/');
  await exchanged(page);
  await page.getByRole('button').click();
  await page.getByRole('button', { name: 'clicked 1' }).waitFor();
  await page.getByLabel('Note').fill('half a senten');
  return { page, ...watched };
}

function at(way: string): Opened {
  const found = opened.get(way);
  if (!found) throw new Error(`Nothing was opened: ${way}.`);
  return found;
}

async function expectText(way: string, selector: string, words: string): Promise<void> {
  const element = at(way).page.locator(selector);
  await expect.poll(() => element.innerText(), { timeout: PATIENCE, message: way }).toContain(words);
}

async function expectKept(way: string): Promise<void> {
  const { page, documents } = at(way);
  expect([way, await page.getByLabel('Note').inputValue(), documents]).toEqual([way, 'half a senten', ['/']]);
  await expectText(way, 'button', 'clicked 1');
}

describe('an edit is shown directly, behind a proxy that changes host and port, and behind nginx', () => {
  const ways = ['direct', 'proxy', ...(hasNginx ? ['nginx'] : [])];

  test.skipIf(!hasNginx)(`(nginx buffers${hasNginx ? '' : '; skipped: not installed'})`, () => {
    expect([...opened.keys()]).toEqual(ways);
  });

  test('without losing state', async () => {
    app.edit(HOME, 'First words', 'Second words');
    for (const way of ways) await expectText(way, 'h1', 'Second words');
    app.edit(WORDS, 'from the loader', 'from another loader');
    for (const way of ways) await expectText(way, '#data', 'from another loader');
    app.edit(HOME, 'Second words', 'Third words');
    for (const way of ways) await expectText(way, 'h1', 'Third words');
    for (const way of ways) {
      await expectKept(way);
      expect([way, at(way).complaints]).toEqual([way, []]);
    }
  });

  test('after the proxy has answered 502 for a while, as when npm run dev is restarted', async () => {
    proxy.cutOff();
    await expect.poll(proxy.countRefused, { timeout: PATIENCE }).toBeGreaterThan(0);
    app.edit(HOME, 'Third words', 'Fourth words');
    await expectText('direct', 'h1', 'Fourth words');
    proxy.reconnect();
    await expectText('proxy', 'h1', 'Fourth words');
    await expectKept('proxy');
  });

  test('and so is a failure that it causes', async () => {
    app.edit(HOME, '<p>{seen}</p>', '<p>{seen.no.where}</p>');
    for (const way of ways) await expectText(way, '[role="alertdialog"]', 'home.tsx:16:19 (open in editor)');
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
