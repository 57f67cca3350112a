import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sendText } from '../../src/server/engine/request/send-body.ts';
import { shareBrowser } from '../support/browser.ts';
import { expectAllSame, listTypes, startUpstream, toSent, type Upstream } from '../support/report-upstream.ts';
import { startTunnelSite, type TunnelSite } from '../support/tunnel-site.ts';
import { until } from '../support/until.ts';

const CLIENT = fileURLToPath(new URL('../support/sdk-browser-client.mjs', import.meta.url));
const POLICY = "default-src 'self'; worker-src blob:; report-uri /_report/browser";

let upstream: Upstream;
let site: TunnelSite;
let browser: Browser;

beforeAll(async () => {
  const bundle = await build({
    entryPoints: [CLIENT],
    bundle: true,
    write: false,
    format: 'esm',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  upstream = await startUpstream();
  site = await startTunnelSite({
    upstreamDsn: upstream.dsn,
    outbox: upstream.outbox,
    environment: 'test',
    pages(req, res) {
      const isScript = req.url === '/assets/main-AAAAAAAA.js';
      if (!isScript && !req.url?.startsWith('/?')) return sendText(res, 404, 'nothing here');
      res.setHeader('Content-Security-Policy', POLICY);
      res.setHeader('Document-Policy', 'js-profiling');
      res.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
      res.end(isScript ? bundle.outputFiles[0]?.contents : page(upstream.dsn));
    },
  });
  browser = await shareBrowser();
}, 60_000);
afterAll(async () => {
  site?.close();
  upstream?.close();
});

function page(dsn: string): string {
  return `<!doctype html><html data-dsn="${dsn}"><title>shop</title><div id="root"></div>
<img src="https://blocked.example/a.png" alt=""><script type="module" src="/assets/main-AAAAAAAA.js"></script></html>`;
}

it("forwards everything that React's SDK sends from a browser, and keeps its content", async () => {
  for (const lifecycle of ['stream', 'static']) {
    const before = envelopes().length;
    const context = await browser.newContext();
    const tab = await context.newPage();
    await tab.goto(`${site.origin}/?lifecycle=${lifecycle}`);
    await tab.waitForFunction(() => document.title === 'done', undefined, { timeout: 30_000 });
    // The SDK reports dropped items when the page is hidden.
    await tab.evaluate(() => {
      Object.defineProperty(document, 'visibilityState', { value: 'hidden' });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await until(
      () => listTypes(envelopes().slice(before)).includes('client_report'),
      'the report of what was dropped',
      10_000,
    );
    await context.close();
  }
  await until(() => upstream.bodies.length >= envelopes().length, 'the last envelope', 10_000);

  expect(listTypes(envelopes())).toEqual(
    expect.arrayContaining([
      ...['attachment', 'client_report', 'event', 'feedback', 'log', 'profile_chunk', 'replay_event'],
      ...['replay_recording', 'session', 'span', 'trace_metric', 'transaction', 'user_report'],
    ]),
  );
  expectAllSame(upstream.bodies, envelopes());

  const titles = site.failures.map(({ title }) => title);
  expect(new Set(titles)).toEqual(
    new Set([
      'TypeError: rendered',
      'Error: outer',
      'NonError: said ✓',
      'Error: in a timer',
      titles.find((title) => title.startsWith('csp')),
    ]),
  );
  const rendered = site.failures.find(({ title }) => title === 'TypeError: rendered');
  expect(rendered?.componentStack).toMatch(/\n\s+at /);
  expect(rendered?.errors[0]?.frames[0]).toMatchObject({
    file: 'client/assets/main-AAAAAAAA.js',
    line: expect.any(Number),
  });
  expect(rendered?.request?.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?lifecycle=/);
  expect(site.feedback.map(({ text }) => text).sort()).toEqual([
    'It broke as ever.',
    'It broke as ever.',
    'It broke.',
    'It broke.',
  ]);
  expect(site.failures.find(({ kind }) => kind === 'csp')?.extra).toMatchObject({
    directive: 'img-src',
    blocked: 'blocked.example',
  });
  expect(site.faults).toEqual([]);
});

/** Bodies of envelopes, without the browser's own reports. */
function envelopes(): Buffer[] {
  return site.received.map(toSent).filter((body) => !body.toString().startsWith('{"csp-report"'));
}
