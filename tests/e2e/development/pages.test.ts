import { afterAll, beforeAll, expect, test } from 'vitest';
import { shareBrowser, watch } from '../../support/browser.ts';
import { startRecorder } from '../report-recorder.ts';
import { exchanged, hydrated } from '../site.ts';
import { type DevApp, startDevApp } from './dev-app.ts';

const HOME = 'src/shared/product/pages/home.tsx';
const WORDS = 'src/server/product/words.ts';
/** Allows for a build under load, which takes seconds (ms). */
const PATIENCE = { timeout: 40_000 };

let app: DevApp;
beforeAll(async () => {
  const existing = `const app = require('express4')();
app.get('/old', (req, res) => res.send('the first answer'));
module.exports = app;
`;
  const files = {
    'legacy/app.js': existing,
    'legacy/package.json': '{ "type": "commonjs" }',
    'src/server/product/index.ts': `import { defineProduct } from '#engine/server';
import { pages } from './pages/index.ts';
import { settings } from './settings.ts';

export const product = defineProduct({ settings, pages, existingApp: './legacy/app.js' });
`,
  };
  app = await startDevApp(files, { HOST: 'localhost' });
}, 120_000);
afterAll(() => app?.stop());

async function open(path: string, url = app.url) {
  const browser = await shareBrowser();
  const page = await browser.newPage({ baseURL: url, userAgent: 'Mozilla/5.0 Chrome/150.0.0.0' });
  page.setDefaultTimeout(PATIENCE.timeout);
  const watched = await watch(page);
  await page.goto(path);
  return { page, ...watched };
}

test('a build does not break the development server', async () => {
  await app.build();
  const { page, complaints } = await open('/');
  await exchanged(page);
  app.edit(HOME, 'First words', 'Words after the build');
  await page.getByRole('heading', { name: 'Words after the build' }).waitFor();
  app.edit(WORDS, 'from the loader', 'from a loader after the build');
  await page.getByText('from a loader after the build').waitFor();
  expect(complaints).toEqual([]);
  await page.close();
  await app.reset();
});

test('an edit is shown without losing state, with HOST=localhost', async () => {
  const { page, documents, complaints } = await open('/');
  await exchanged(page);
  await page.getByRole('button').click();
  app.edit(HOME, 'First words', 'Second words');
  await page.getByRole('heading', { name: 'Second words' }).waitFor();
  app.edit(WORDS, 'from the loader', 'from another loader');
  await page.getByText('from another loader').waitFor();
  await page.getByRole('button', { name: 'clicked 1' }).waitFor();
  expect(documents).toEqual(['/']);
  expect(complaints).toEqual([]);
  await page.close();
});

test('an edit of an existing app restarts the server', async () => {
  const ask = async () => (await fetch(`${app.url}/old`).catch(() => undefined))?.text();
  await expect.poll(ask, PATIENCE).toBe('the first answer');
  app.edit('legacy/app.js', 'first', 'second');
  await expect.poll(ask, PATIENCE).toBe('the second answer');
});

test('a failure in the browser is reported by the SDK in development too', async () => {
  const recorder = await startRecorder(app.url);
  const { page } = await open('/', recorder.url);
  await exchanged(page);
  await page.evaluate(() => void setTimeout(() => Promise.reject(new RangeError('too far'))));
  await expect.poll(() => recorder.events.length, PATIENCE).toBe(1);
  const [event] = recorder.events;
  expect(event?.exception.values[0]).toMatchObject({ type: 'RangeError', value: 'too far' });
  // The minimal envelope, which is sent if the SDK cannot be loaded, does not have this.
  expect(event?.contexts?.trace?.trace_id).toMatch(/^[0-9a-f]{32}$/);
  await page.close();
  await recorder.stop();
});

test('the development build of React, which compares attributes, does not complain about an inline script with a nonce', async () => {
  const script = `<script nonce={useNonce()} suppressHydrationWarning dangerouslySetInnerHTML={{ __html: 'window.ranInline = true' }} />`;
  const ROOT = 'src/shared/product/pages/root.tsx';
  app.edit(ROOT, 'import { Theme }', "import { useNonce } from '#engine';\nimport { Theme }");
  app.edit(ROOT, '<nav>', `${script}<nav>`);
  await expect.poll(async () => (await fetch(app.url)).text(), PATIENCE).toContain('ranInline');
  const { page, complaints } = await open('/');
  await hydrated(page);
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
  expect(await page.evaluate(() => (window as { ranInline?: boolean }).ranInline)).toBe(true);
  expect(complaints).toEqual([]);
  await page.close();
});

test('npm run dev also stops a server that has just been started', async () => {
  const count = () => app.output().split('built in').length;
  const before = count();
  app.edit(WORDS, 'from another loader', 'other words');
  // The next server is starting, and the previous one still serves requests.
  await expect.poll(count, { ...PATIENCE, interval: 5 }).toBe(before + 1);
  await app.stop(); // It reports servers that are still running.
});
