import { build } from 'esbuild';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sendText } from '../../src/server/request/send-body.ts';
import { shareBrowser } from '../support/browser.ts';
import { startTunnelSite, type TunnelSite } from '../support/tunnel-site.ts';

const DSN = 'https://abc123@o1.ingest.example/7';
const SCRIPT = '/assets/main-AAAAAAAA.js';

/** A page of another app that uses all of Sentry's SDK for React. */
const CLIENT = `
import * as Sentry from '@sentry/react';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';

const dsn = document.documentElement.dataset.dsn;
Sentry.init({
  ...{ dsn, tunnel: '/_report', release: 'build-2', environment: 'test', traceLifecycle: 'static', enableLogs: true },
  ...{ tracesSampleRate: 1, replaysSessionSampleRate: 1 },
  integrations: [
    Sentry.browserTracingIntegration(),
    Sentry.replayIntegration({ flushMinDelay: 100, minReplayDuration: 0 }),
    Sentry.feedbackIntegration({ autoInject: false }),
  ],
});
function Broken() {
  throw new TypeError('rendered');
}
async function run() {
  const root = createRoot(document.getElementById('root'), { onUncaughtError: Sentry.reactErrorHandler() });
  root.render(createElement(Broken));
  Sentry.withScope((scope) => {
    scope.addAttachment({ filename: 'state.bin', data: new Uint8Array([0, 10, 13, 255]) });
    Sentry.captureException(new Error('outer', { cause: new RangeError('inner') }));
  });
  Sentry.captureMessage('said ✓');
  Sentry.captureFeedback({ message: 'It broke.', name: 'Ann', email: 'ann@example.com' });
  const checkout = { name: 'checkout', op: 'task', forceTransaction: true, parentSpan: null };
  await Sentry.startSpan(checkout, () => new Promise((resolve) => setTimeout(resolve, 100)));
  Sentry.logger.info('paid', { amount: 3 });
  setTimeout(() => {
    throw new Error('in a timer');
  });
  document.body.append('changed'); // for the replay
  await Sentry.getReplay()?.flush();
  await Sentry.flush(5000);
}
run().then(() => {
  document.title = 'done';
});`;

const PAGE = `<!doctype html><html data-dsn="${DSN}"><title>shop</title><div id="root"></div>
<img src="https://blocked.example/a.png" alt=""><script type="module" src="${SCRIPT}"></script></html>`;

let site: TunnelSite;
let browser: Browser;

beforeAll(async () => {
  const bundle = await build({
    stdin: { contents: CLIENT, resolveDir: import.meta.dirname },
    ...{ bundle: true, write: false, format: 'esm', define: { 'process.env.NODE_ENV': '"production"' } },
  });
  site = await startTunnelSite({
    upstreamDsn: DSN,
    pages(req, res) {
      if (req.url !== SCRIPT && req.url !== '/') return sendText(res, 404, 'nothing here');
      res.setHeader('Content-Security-Policy', "default-src 'self'; worker-src blob:; report-uri /_report/browser");
      res.setHeader('Content-Type', req.url === '/' ? 'text/html; charset=utf-8' : 'text/javascript');
      res.end(req.url === '/' ? PAGE : bundle.outputFiles[0]?.contents);
    },
  });
  browser = await shareBrowser();
});
afterAll(() => site?.close());

it("takes what Sentry's SDK for React sends: stores and forwards errors, forwards transactions, drops the rest", async () => {
  const context = await browser.newContext();
  const tab = await context.newPage();
  const statuses: number[] = [];
  tab.on('response', (response) => {
    if (response.request().method() === 'POST') statuses.push(response.status());
  });
  await tab.goto(`${site.origin}/`);
  await tab.waitForFunction(() => document.title === 'done', undefined, { timeout: 60_000 });
  const titles = () => site.failures.map(({ title }) => title.replace(/^csp.*/, 'csp')).sort();
  await expect
    .poll(titles)
    .toEqual(['Error: in a timer', 'Error: outer', 'NonError: said ✓', 'TypeError: rendered', 'csp']);
  await context.close();

  const find = (wanted: string) => site.failures.find(({ title, kind }) => title === wanted || kind === wanted);
  const rendered = find('TypeError: rendered');
  expect(rendered).toMatchObject({ build: 'build-2', request: { url: `${site.origin}/` } });
  expect(rendered?.componentStack).toMatch(/\n\s+at /);
  expect(rendered?.errors[0]?.frames[0]).toMatchObject({ file: `client${SCRIPT}`, line: expect.any(Number) });
  expect(find('Error: outer')?.errors.map((error) => error.class)).toEqual(['Error', 'RangeError']);
  expect(find('csp')?.extra).toMatchObject({ directive: 'img-src', blocked: 'blocked.example' });

  const forwarded = site.forwarded.map(([, payload]) => payload);
  expect(forwarded.filter(({ exception }) => exception !== undefined)).toHaveLength(4);
  const transactions = forwarded.filter(({ type }) => type === 'transaction');
  expect(transactions).toContainEqual(expect.objectContaining({ transaction: 'checkout', environment: 'production' }));
  expect(JSON.stringify(forwarded)).not.toMatch(/ann@example|It broke/);
  // Feedback, the attachment, the replay, a log and a session.
  expect(site.counts.get('spillway_tunnel_items_total{type=other,outcome=dropped}')).toBeGreaterThanOrEqual(5);
  expect([site.faults, statuses.filter((status) => status >= 300)]).toEqual([[], []]);
});
