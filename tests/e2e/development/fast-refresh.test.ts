import type { ServerResponse } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { shareBrowser, type Watched, watch } from '../../support/browser.ts';
import { startProxy } from '../proxy.ts';
import { startRecorder } from '../report-recorder.ts';
import { exchanged, link, shows } from '../site.ts';
import { type DevApp, PATIENCE, startDevApp } from './dev-app.ts';

const PRODUCT = 'src/shared/product';
const HOME = `${PRODUCT}/pages/home.tsx`;
const BUTTON = `${PRODUCT}/ui/button.tsx`;
const ROOT = `${PRODUCT}/pages/root.tsx`;
const SHEET = `${PRODUCT}/pages/home.module.css`;
const COMPOSED = `${PRODUCT}/pages/base.module.css`;
const TABLE = `${PRODUCT}/routes.tsx`;
const WORDS = 'src/server/product/words.ts';
const PAGES = 'src/server/product/pages/index.ts';

/** Each edit costs a build and a new server, so all tests share one app. */
let app: DevApp;
let page: Page;
let documents: string[];
let complaints: string[];
/** The reason of each reload. */
let reloads: string[];

beforeAll(async () => {
  const failing = (begins: string, name: string) =>
    `<i onClick={${begins} new Error('in ${name}'); }}>press ${name}</i>`;
  const blocked = "<i onClick={() => void fetch('https://elsewhere.example/')}>press a request</i>";
  const script = `<script nonce={useNonce()} suppressHydrationWarning dangerouslySetInnerHTML={{ __html: 'window.ranInline = true' }} />`;
  app = await startDevApp(
    {
      'legacy/app.js':
        "module.exports = require('express4')().get('/old', (_req, res) => res.send('the first answer'));",
      'legacy/package.json': '{ "type": "commonjs" }',
      'src/server/product/index.ts': `import express from 'express';
import pg from 'pg';
import { defineProduct, report } from '#engine/server';
import { pages } from './pages/index.ts';
import { settings } from './settings.ts';

// Default imports of a CommonJS package and of one with .mjs files: without them, the server does not start.
express();
void pg.Pool.prototype;
const services = { open: () => report(new Error('reported before the server is ready')) };
export const product = defineProduct({ settings, services, pages, existingApp: './legacy/app.js' });
`,
      [ROOT]: `import { Outlet } from 'react-router';
import { Link, useNonce } from '#engine';
import { Theme } from '../theme.ts';

export default function Root() {
  return (
    <Theme value="blue">
      ${script}
      ${failing('() => { throw', 'a handler')} ${failing('async () => { throw', 'a promise')} ${blocked}
      <Link to="/other">Other</Link>
      <Outlet />
    </Theme>
  );
}
`,
    },
    { HOST: '127.0.0.2', TRUST_PROXY: 'loopback' },
  );
});
afterAll(() => app?.stop());

/** Opens the home page, and gives it a state that a document load would lose: a count, a text, a scroll position. */
async function openHome(baseURL = app.url): Promise<Watched & { readonly page: Page }> {
  const opened = await (await shareBrowser()).newPage({
    baseURL,
    viewport: { width: 800, height: 500 },
    userAgent: 'Mozilla/5.0 Chrome/150.0.0.0',
  });
  opened.setDefaultTimeout(PATIENCE);
  const watched = await watch(opened);
  opened.on('console', (message) => message.text().startsWith('Spillway reloads') && reloads.push(message.text()));
  await opened.goto('/');
  await exchanged(opened);
  await opened.getByRole('button').click();
  await opened.getByLabel('Note').fill('half a senten');
  await opened.evaluate(() => window.scrollTo(0, 120));
  return { page: opened, ...watched };
}

/** The tests of one `describe` share one page, unless one fails. Each begins when the last edit is served. */
function useOnePage(): void {
  async function open(): Promise<void> {
    await app.reset();
    reloads = [];
    ({ page, documents, complaints } = await openHome());
  }
  beforeAll(open);
  afterEach(async ({ task }) => {
    if (task.result?.state !== 'fail') return void (await app.settled());
    await page.close();
    await open();
  });
  afterAll(() => page?.close());
}

const poll = <T>(read: () => T) => expect.poll(read, { timeout: PATIENCE });

async function expectKept(opened = page): Promise<void> {
  expect(reloads).toEqual([]);
  await opened.getByRole('button', { name: /^clicked 1/ }).waitFor();
  expect(await opened.getByLabel('Note').inputValue()).toBe('half a senten');
  expect(await opened.evaluate(() => window.scrollY)).toBe(120);
}

describe('an edit', () => {
  useOnePage();

  test('of a hook, the layout and a style sheet, with a new class and a new module, is shown without losing state', async () => {
    app.edit(`${PRODUCT}/use-label.ts`, "'theme '", "'the theme is '");
    app.edit(ROOT, 'value="blue"', 'value="green"');
    const sheet = app.read(SHEET).replace('rgb(1, 2, 3)', 'rgb(4, 5, 6)');
    app.write(COMPOSED, '.base { letter-spacing: 1px }');
    const note = ".note { composes: base from './base.module.css'; color: rgb(7, 8, 9) }";
    app.write(SHEET, `${note}\n${sheet}\nbody } {}`);
    app.edit(HOME, '<p>{seen}</p>', '<p id="note" className={styles.note}>{seen}</p>');
    app.write(`${PRODUCT}/parts/part.tsx`, 'export const Part = () => <i>a part</i>;\n');
    app.edit(HOME, 'export default', "import { Part } from '../parts/part.tsx';\nexport default");
    app.edit(HOME, '<footer>', '<Part /><footer>');
    await page.getByText('a part').waitFor();
    const colorOf = (selector: string) => page.locator(selector).evaluate((found) => getComputedStyle(found).color);
    await poll(() => colorOf('h1')).toBe('rgb(4, 5, 6)');
    expect(await colorOf('#note')).toBe('rgb(7, 8, 9)');
    await poll(() => page.locator('#label').innerText()).toBe('the theme is green');
    await poll(app.output).toMatch(/\[WARNING\] Unexpected "}"\s+src\/shared\/product\/pages\/home\.module\.css:\d/);
    await expectKept();
    // The new sheet replaces the previous one, and pages that are loaded now get it too.
    const sheets = page.locator('link[rel="stylesheet"]');
    await poll(() => sheets.count()).toBe(1);
    await poll(async () => (await fetch(app.url)).text()).toContain(await sheets.getAttribute('href'));
    app.edit(COMPOSED, '1px', '2px');
    await poll(() => page.locator('#note').evaluate((found) => getComputedStyle(found).letterSpacing)).toBe('2px');
  });

  test('that is saved in two steps, the first of which empties the file, is shown without losing state', async () => {
    const text = app.read(HOME);
    app.write(HOME, '');
    await new Promise((resolve) => setTimeout(resolve, 30)); // long enough for a build to begin
    app.write(HOME, text.replace('the end', 'the very end'));
    await shows(page, 'the very end');
    await expectKept();
    expect([documents, complaints]).toEqual([['/'], []]);
  });

  test('of the server refuses no connection while the server is replaced, which then exits', async () => {
    const failures: unknown[] = [];
    let asked = 0;
    let stopped = false;
    const asking = Promise.all(
      [1, 2, 3].map(async () => {
        while (!stopped) {
          await fetch(`${app.url}/_data/`, { headers: { connection: 'close' } }).then(
            (answer) => answer.status === 200 || failures.push(answer.status),
            (error: unknown) => failures.push(error),
          );
          asked++;
          await new Promise((resolve) => setTimeout(resolve, 5)); // Leaves CPU time for the builds.
        }
      }),
    );
    app.write(WORDS, "export const words = 'exchanged once';\n");
    await poll(() => page.locator('#data').innerText()).toBe('exchanged once');
    stopped = true;
    await asking;
    expect(failures).toEqual([]);
    expect(asked).toBeGreaterThan(20);
    await poll(() => app.output()).toContain('Stopping. The server finishes the requests in flight, then exits.');
    expect(app.output()).not.toContain('ended unexpectedly');
    expect(app.output().split('Listening on localhost only')).toHaveLength(2); // a hint, once
  });

  test('of which a request for data or for a module was cut off is requested again, without losing state', async () => {
    // As a server does that ends before it has responded.
    const requests = { '**/_data/': 0, '**/pages/home.tsx.js?v=*': 0 };
    for (const path of Object.keys(requests) as (keyof typeof requests)[]) {
      await page.route(path, (route) => {
        requests[path] += 1;
        return requests[path] === 1 ? route.abort('connectionreset') : route.continue();
      });
    }
    app.write(WORDS, "export const words = 'exchanged after a cut';\n");
    app.edit(HOME, 'First words', 'Second words');
    await poll(() => page.locator('#data').innerText()).toBe('exchanged after a cut');
    await poll(() => page.locator('h1').innerText()).toBe('Second words');
    for (const count of Object.values(requests)) expect(count).toBeGreaterThan(1);
    await expectKept();
  });

  test('that adds a hook remounts that component, and no other', async () => {
    app.edit(BUTTON, 'useState(0);', "useState(0);\n  const [unit] = useState('in all');");
    app.edit(BUTTON, '</button>', '{unit}</button>');
    await page.getByRole('button', { name: /^clicked 0.*in all$/ }).waitFor();
    expect(await page.getByLabel('Note').inputValue()).toBe('half a senten');
    expect(documents).toEqual(['/']);
  });

  test('that gives the layout a title as well warns that the page has lost its own, and an edit of a page that is not open is shown on the next navigation to it', async () => {
    app.edit(ROOT, '<Outlet />', '<title>Layout</title>\n      <Outlet />');
    app.edit(HOME, '<main>', '<main>\n      <title>Home</title>');
    app.edit(`${PRODUCT}/pages/other.tsx`, '<h1>Other', '<h1>Another');
    // In the order in which the builds have them.
    await poll(() => complaints).toContainEqual(expect.stringMatching(/"Home", "Layout"|"Layout", "Home"/));
    app.edit(ROOT, '<title>Layout</title>', '');
    await app.settled();
    await link(page, 'Other').click();
    await page.getByRole('heading', { name: 'Another' }).waitFor();
    expect(documents).toEqual(['/']);
  });
});

test('behind a proxy that changes host and port, edits are shown, also after it has answered 502 for a while', async () => {
  reloads = [];
  let refuse: ((res: ServerResponse) => unknown) | undefined;
  let refused = 0;
  const proxy = await startProxy(app.url, {
    intercept(_req, res) {
      if (refuse) refused += 1;
      refuse?.(res);
      return refuse !== undefined;
    },
    toHeaders: ({ headers }) => ({
      ...headers,
      ...{ host: new URL(app.url).host, 'x-forwarded-host': headers.host, 'x-forwarded-proto': 'http' },
    }),
  });
  onTestFinished(proxy.stop);
  const proxied = await openHome(`http://app.localhost:${proxy.port}`);
  onTestFinished(() => proxied.page.close());
  const expectText = (selector: string, text: string) =>
    poll(() => proxied.page.locator(selector).innerText()).toContain(text);
  const editTitle = (words: string) => app.write(HOME, app.read(HOME).replace(/(<h1.*>).*(?=<\/h1>)/, `$1${words}`));
  editTitle('Words by proxy');
  app.write(WORDS, "export const words = 'from another loader';\n");
  await expectText('h1', 'Words by proxy');
  await expectText('#data', 'from another loader');
  expect(proxied.complaints).toEqual([]);
  refuse = (res) => res.destroy();
  proxy.cutConnections();
  await proxied.page.waitForTimeout(1000);
  expect(refused).toBeLessThan(7); // each one is an error on the console
  refuse = (res) => res.writeHead(502).end();
  const before = refused;
  await poll(() => refused).toBeGreaterThan(before);
  editTitle('Last words');
  await app.settled();
  refuse = undefined;
  await expectText('h1', 'Last words');
  await expectKept(proxied.page);
  expect(proxied.documents).toEqual(['/']);
});

describe('a failure', () => {
  useOnePage();

  /** Expects an error overlay with these texts, until it is closed. */
  async function expectProblem(...texts: (string | RegExp)[]): Promise<void> {
    for (const text of texts) await page.getByRole('alertdialog').filter({ hasText: text }).waitFor();
  }

  async function expectMended(): Promise<void> {
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'First words' }).waitFor();
  }

  test('in a build is shown over the page with its line, and disappears when it is fixed', async () => {
    app.edit(HOME, '<footer>the end</footer>', '<footer>the end</fotter>');
    await expectProblem('<footer>the end</fotter>');
    const link = page.getByRole('alertdialog').getByRole('link');
    expect(await link.innerText()).toMatch(/^src\/shared\/product\/pages\/home\.tsx:22:\d+ \(open in editor\)$/);
    expect(await link.getAttribute('href')).toMatch(/^vscode:\/\/file\/.+\/home\.tsx:22:\d+$/);
    const home = app.read(HOME).replace('</fotter>', '</footer>');
    app.write(HOME, `import type { ReactNode } from 'react';\nimport 'node:fs';\n${home}`);
    await expectProblem(/Only Node has node:fs/, /home\.tsx:2:8 \(open/);
    expect(app.output()).not.toContain('modules-apart');
    app.write(HOME, home.replace('{ Button }', 'Button'));
    await expectProblem('for import "default"', /home\.tsx:3:\d+ \(open/);
    app.write(HOME, home.replaceAll('useData', 'useDate'));
    await expectProblem('No matching export in "src/shared/index.ts" for import "useDate"', 'home.tsx:2:10 (open');
    app.write(HOME, `import 'not-installed';\n${home}`);
    await expectProblem('Could not resolve "not-installed"', 'npm install --save-prod not-installed');
    app.write(HOME, home);
    await expectMended();
    await expectKept();
  });

  test('of a package at the start is over when nothing imports it any more', async () => {
    const of = '../node_modules/of-browsers/';
    app.write(`${of}package.json`, '{ "main": "main.js" }');
    app.write(`${of}main.js`, 'exports.width = window.innerWidth;');
    app.edit(WORDS, 'export', "import { width } from 'of-browsers';\nconsole.log(width);\nexport");
    await expectProblem('The server did not start', 'window is not defined', 'of-browsers/main.js');
    app.write(WORDS, "export const words = 'without the package';\n");
    await poll(() => page.locator('#data').innerText()).toBe('without the package');
    await expectMended();
    // One that only browsers load, such as a map, does not fail.
    app.write(
      `${of}main.js`,
      'new Promise((done) => window.requestIdleCallback(done)); exports.width = window.innerWidth;',
    );
    app.write(WORDS, "export const words = 'later';\nexport const measure = () => import('of-browsers');\n");
    await poll(() => page.locator('#data').innerText()).toBe('later');
    app.write('../node_modules/named/package.json', '{ "main": "main.js" }');
    app.write('../node_modules/named/main.js', "exports.place = 'imported late, by name';");
    app.write(WORDS, "const { place } = await import('named');\nexport const words = place;\n");
    await poll(() => page.locator('#data').innerText()).toBe('imported late, by name');
    app.write(WORDS, "export const words = 'without the package';\n");
    await poll(() => page.locator('#data').innerText()).toBe('without the package');
    await expectMended();
  });

  test('at the start of a server is shown, and the previous server continues', async () => {
    app.edit(WORDS, 'export', "throw new Error('not today');\nexport");
    await expectProblem('The server did not start', 'not today', 'src/server/product/words.ts:1');
    expect((await fetch(app.url)).status).toBe(200);
    app.edit(TABLE, './pages/other.tsx', './pages/otehr.tsx');
    await expectProblem(/Could not resolve ".*pages\/otehr\.tsx"/, 'routes.tsx:9:');
    app.edit(TABLE, './pages/otehr.tsx', './pages/other.tsx');
    app.edit(PAGES, 'other: null', 'otehr: null');
    app.edit(WORDS, "throw new Error('not today');\n", '');
    await expectProblem(
      'The route "other" is missing in src/server/product/pages/index.ts',
      'has a server file "otehr", but there is no such route.',
    );
    app.edit(PAGES, 'otehr: null', 'other: null');
    app.edit(WORDS, 'export', "import { notFound } from '#engine/server';\nconsole.log(notFound);\nexport");
    await expectProblem('No matching export in "src/server/index.ts" for import "notFound"', 'words.ts:1:10 (open');
    app.edit(WORDS, "import { notFound } from '#engine/server';\nconsole.log(notFound);\n", '');
    await expectMended();
    await expectKept();
  });

  test('on the server is shown with its source line until it is fixed, and the next server still knows it', async () => {
    const words = app.read(WORDS);
    app.write(WORDS, `${words}\nexport function fail() {\n  throw new Error('no words');\n}\n`);
    app.edit(PAGES, "import { words } from '../words.ts';", "import { fail } from '../words.ts';");
    app.edit(PAGES, '({ words })', 'fail()');
    await expectProblem('GET / failed (loader of "home")', 'no words');
    await expectProblem('src/server/product/words.ts:4:9 (open in editor)', 'at fail (');
    const address = (await fetch(app.url)).headers.get('x-error-digest');
    // A build without a change of the code does not remove the error.
    app.write(WORDS, app.read(WORDS));
    await app.settled();
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100))); // time for the event
    await expectProblem('no words');
    app.edit(PAGES, "import { fail } from '../words.ts';", "import { words } from '../words.ts';");
    app.edit(PAGES, 'fail()', '({ words })');
    app.write(WORDS, words);
    await expectMended();
    expect(documents).toEqual(['/']);
    const told = await fetch(`${app.url}/_dev/failures/${address}`);
    expect([told.status, JSON.stringify(await told.json())]).toEqual([200, expect.stringContaining('words.ts')]);
  });

  test('in an event handler, and in a promise that one awaits, is shown with its line', async () => {
    await page.getByText('press a handler').click();
    await expectProblem('An error outside of rendering', 'in a handler', /root\.tsx:\d+:\d+ \(open in editor\)/);
    await page.getByText('press a promise', { exact: true }).evaluate((element: HTMLElement) => element.click()); // under the overlay
    await expectProblem('A promise was rejected, and nothing handled it', 'in a promise');
    await page.getByText('press a request', { exact: true }).evaluate((element: HTMLElement) => element.click());
    await expectProblem(
      /blocks https:\/\/elsewhere\.example\. .+ contentSources\.connect in/,
      /root\.tsx:\d+:\d+ \(open/,
    );
    await page.evaluate('setTimeout(() => process.env)');
    await expectProblem('process is not defined', 'Browsers have no `process`.');
    await page.evaluate("setTimeout(() => { throw 'a text'; })");
    await expectProblem('NonError: "a text"', 'Throw `new Error(…)` instead.');
    expect(await page.getByRole('alertdialog').getByRole('link').count()).toBe(0);
    await page.reload();
    await exchanged(page);
    await expectMended();
    documents.length = 0;
    complaints.length = 0;
  });

  test('is not what a component throws to show the 404 page', async () => {
    const home = app.read(HOME);
    app.write(HOME, home.replace('{ useData }', '{ notFound, useData }').replace('<p>{seen}</p>', '{notFound()}'));
    await page.getByRole('heading', { name: 'First words' }).waitFor({ state: 'detached' });
    await page.waitForTimeout(500); // time for an overlay
    expect(await page.getByRole('alertdialog').count()).toBe(0);
    app.write(HOME, home);
    await expectMended();
  });

  test('at the start of a server is shown also after React has rendered the whole document', async () => {
    // React removes what it did not render when it renders the whole document.
    app.edit(HOME, 'export default function', 'export function');
    await expectProblem('The page "home" does not export a component as its default.');
    await page.reload(); // The previous server sends its page, and the browser cannot hydrate it.
    await page.getByText('failure').waitFor({ state: 'attached' });
    await expectProblem('The page "home" does not export a component as its default.');
    app.edit(HOME, 'export function', 'export default function');
    await expectMended();
    complaints.length = 0;
  });

  test('in a component is shown with its line and the components around it, in the browser and on the server', async () => {
    app.edit(HOME, '<p>{seen}</p>', '<p>{seen.no.where}</p>');
    await expectProblem("reading 'where'", 'home.tsx:16:19 (open in editor)', 'at Home (', 'at Root');
    await poll(async () => (await fetch(app.url)).status).toBe(500); // the server is replaced later
    // Each connection begins with the last build, which a page that was loaded with it already has.
    let connections = 0;
    await page.route('**/_dev/events', async (route) => {
      connections += 1;
      const body = `retry: 50\n\ndata: ${JSON.stringify(await app.readState())}\n\n`;
      await route.fulfill({ contentType: 'text/event-stream', body });
    });
    await page.reload();
    await expectProblem('GET / failed (render)', 'home.tsx:16:19 (open in editor)', 'at Home (');
    const before = connections;
    await poll(() => connections).toBeGreaterThan(before + 2);
    await expectProblem('GET / failed (render)');
    await page.unrouteAll({ behavior: 'wait' });
    app.edit(HOME, '<p>{seen.no.where}</p>', '<p>{Math.random()}</p>');
    await poll(async () => (await fetch(app.url)).status).toBe(200);
    await page.reload();
    await expectProblem('could not be hydrated as it was rendered', 'home.tsx:16:7 (open in editor)');
    // React throws this one by itself, so only the components say where.
    app.edit(HOME, '<p>{Math.random()}</p>', '<p>{{ seen }}</p>');
    await expectProblem('Objects are not valid as a React child', /home\.tsx:\d+:\d+ \(open/);
    await poll(async () => (await fetch(app.url)).status).toBe(500);
    await page.reload();
    await expectProblem('GET / failed (render)', /home\.tsx:\d+:\d+ \(open/, 'at Home (src/shared/product/');
    app.edit(HOME, '<p>{{ seen }}</p>', '<p>{seen}</p>');
    await expectMended();
    complaints.length = 0;
  });
});

test('a change that cannot be hot-replaced reloads the page, which keeps typed text, focus and scroll position and shows the reason', async () => {
  await app.reset();
  reloads = [];
  const opened = await openHome();
  onTestFinished(() => opened.page.close());
  await opened.page.getByLabel('Note').focus();
  app.edit(`${PRODUCT}/theme.ts`, "createContext('none')", "createContext('nothing')");
  await poll(() => opened.documents).toEqual(['/', '/']);
  await poll(() => opened.page.getByLabel('Note').inputValue()).toBe('half a senten');
  await poll(() => opened.page.evaluate(() => window.scrollY)).toBe(120);
  await poll(() => opened.page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('note');
  expect(reloads).toEqual([
    'Spillway reloads this page, because src/shared/product/theme.ts exports `Theme`, which is neither a component nor a function.',
  ]);
  app.edit(
    'src/client/navigation/chunk-reload.ts',
    'export function createChunkReload',
    'export const changed = 1;\nexport function createChunkReload',
  );
  await poll(() => opened.documents).toEqual(['/', '/', '/']);
});

test('a failure in the browser is reported by the SDK, and an inline script with a nonce causes no complaint', async () => {
  await app.settled();
  const recorder = await startRecorder(app.url);
  onTestFinished(recorder.stop);
  const opened = await openHome(recorder.url);
  onTestFinished(() => opened.page.close());
  expect(await opened.page.evaluate(() => (window as { ranInline?: boolean }).ranInline)).toBe(true);
  expect(opened.complaints).toEqual([]);
  await opened.page.evaluate(() => void setTimeout(() => Promise.reject(new RangeError('too far'))));
  await poll(() => recorder.events.length).toBe(1);
  const [event] = recorder.events;
  expect(event?.exception.values[0]).toMatchObject({ type: 'RangeError', value: 'too far' });
  // The minimal envelope, which is sent if the SDK cannot be loaded, does not have this.
  expect(event?.contexts?.trace?.trace_id).toMatch(/^[0-9a-f]{32}$/);
});

test('an edit of an existing app restarts the server, and npm run dev also stops a server that has just been started', async () => {
  const ask = async () => (await fetch(`${app.url}/old`).catch(() => undefined))?.text();
  await poll(ask).toBe('the first answer');
  app.edit('legacy/app.js', 'first', 'second');
  await poll(ask).toBe('the second answer');
  // The folder of the build is not touched, so that a build and a development server can run at the same time.
  expect(app.has('dist')).toBe(false);
  const count = () => app.output().split('built in').length;
  const before = count();
  app.write(WORDS, "export const words = 'other words';\n");
  // The next server is starting, and the previous one still serves requests.
  await expect.poll(count, { timeout: PATIENCE, interval: 5 }).toBe(before + 1);
  await app.stop(); // It waits until no server is left.
});
