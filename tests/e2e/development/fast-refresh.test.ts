import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DevState } from '../../../src/shared/engine/develop-protocol.ts';
import { shareBrowser, watch } from '../../support/browser.ts';
import { startRecorder } from '../report-recorder.ts';
import { exchanged } from '../site.ts';
import { type DevApp, startDevApp } from './dev-app.ts';

const HOME = 'src/shared/product/pages/home.tsx';
const BUTTON = 'src/shared/product/ui/button.tsx';
const ROOT = 'src/shared/product/pages/root.tsx';
const WORDS = 'src/server/product/words.ts';

let app: DevApp;
let page: Page;
let documents: string[];
let complaints: string[];
/** The reason of each reload. */
let reloads: string[];

beforeAll(async () => {
  const existing = "module.exports = require('express4')().get('/old', (_req, res) => res.send('the first answer'));";
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

/** The edits of one `describe` share one page, one after the other, because each build takes seconds. */
function useOnePage(): void {
  beforeAll(async () => {
    const [browser] = await Promise.all([shareBrowser(), app.reset()]);
    page = await browser.newPage({ baseURL: app.url, viewport: { width: 800, height: 500 } });
    page.setDefaultTimeout(40_000);
    ({ documents, complaints } = await watch(page));
    const said: string[] = [];
    reloads = said;
    page.on('console', (message) => message.text().startsWith('Spillway reloads') && said.push(message.text()));
    await page.goto('/');
    await exchanged(page);
    await page.getByRole('button').click();
    await page.getByRole('button', { name: 'clicked 1' }).waitFor();
    await page.getByLabel('Note').fill('half a senten');
    await page.evaluate(() => window.scrollTo(0, 120));
  });
  afterAll(() => page?.close());
}

/** With a long timeout, because builds and browser share two cores with other tests. */
const poll = <T>(read: () => T) => expect.poll(read, { timeout: 40_000 });

/** Expects that the visitor's state is kept: a count, a text, the scroll position. */
async function expectKept(): Promise<void> {
  expect(reloads).toEqual([]);
  await page.getByRole('button', { name: 'clicked 1' }).waitFor();
  expect(await page.getByLabel('Note').inputValue()).toBe('half a senten');
  expect(await page.evaluate(() => window.scrollY)).toBe(120);
  expect(documents).toEqual(['/']);
}

describe('an edit', () => {
  useOnePage();

  test.each<[what: string, file: string, from: string, to: string, selector: string, text: string | RegExp]>([
    ['a page', HOME, 'First words', 'Second words', 'h1', 'Second words'],
    ['a page that was edited before', HOME, 'Second words', 'Third words', 'h1', 'Third words'],
    ['a component that a page uses', BUTTON, 'clicked {count}', 'clicked {count} times', 'button', 'clicked 1 times'],
    ['a component, undone', BUTTON, 'clicked {count} times', 'clicked {count}', 'button', 'clicked 1'],
    ['a hook', 'src/shared/product/use-label.ts', "'theme '", "'the theme is '", '#label', 'the theme is blue'],
    ['the layout', ROOT, 'value="blue"', 'value="green"', '#label', /green$/],
    ['the server', WORDS, 'from the loader', 'from another loader', '#data', 'from another loader'],
  ])('of %s is shown without losing state', async (_what, file, from, to, selector, text) => {
    app.edit(file, from, to);
    await poll(() => page.locator(selector).innerText()).toMatch(text);
    await expectKept();
  });

  test('of a style sheet is shown without losing state', async () => {
    app.edit('src/shared/product/pages/home.module.css', 'rgb(1, 2, 3)', 'rgb(4, 5, 6)');
    await poll(() => page.getByRole('heading').evaluate((heading) => getComputedStyle(heading).color)).toBe(
      'rgb(4, 5, 6)',
    );
    await expectKept();
    expect(await page.locator('link[rel="stylesheet"]').count()).toBe(1);
    // A page that is loaded now also gets the new sheet.
    const [sheet] = await page
      .locator('link[rel="stylesheet"]')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    await poll(async () => (await fetch(app.url)).text()).toContain(sheet);
  });

  test('that adds a class to a sheet and uses it is shown without losing state', async () => {
    app.edit('src/shared/product/pages/home.module.css', '.title', '.note { color: rgb(7, 8, 9) }\n.title');
    app.edit(HOME, '<p>{seen}</p>', '<p id="note" className={styles.note}>{seen}</p>');
    await poll(() => page.locator('#note').evaluate((note) => getComputedStyle(note).color)).toBe('rgb(7, 8, 9)');
    await expectKept();
  });

  test('that adds a module and uses it is shown without losing state', async () => {
    for (let index = 0; index < 2; index++) {
      app.write(`src/shared/product/parts/part-${index}.tsx`, `export const Part = () => <i>part ${index}</i>;\n`);
      app.edit(
        HOME,
        'export default',
        `import { Part as Part${index} } from '../parts/part-${index}.tsx';\nexport default`,
      );
      app.edit(HOME, '<footer>', `<Part${index} /><footer>`);
      await page.getByText(`part ${index}`).waitFor();
    }
    await expectKept();
  });

  test('that is saved in two steps, the first of which empties the file, is shown without losing state', async () => {
    const text = app.read(HOME);
    app.write(HOME, '');
    await new Promise((resolve) => setTimeout(resolve, 60)); // long enough for a build to begin
    app.write(HOME, text.replace('the end', 'the very end'));
    await page.getByText('the very end').waitFor();
    await expectKept();
    expect(complaints).toEqual([]);
  });

  test('that adds a hook remounts that component, and no other', async () => {
    app.edit(BUTTON, 'useState(0);', "useState(0);\n  const [unit] = useState('in all');");
    app.edit(BUTTON, '</button>', '{unit}</button>');
    await page.getByRole('button', { name: /^clicked 0.*in all$/ }).waitFor();
    expect(await page.getByLabel('Note').inputValue()).toBe('half a senten');
    expect(documents).toEqual(['/']);
  });

  test('of a page that is not open is shown on the next navigation to it', async () => {
    app.edit('src/shared/product/pages/other.tsx', '<h1>Other', '<h1>Another');
    await poll(() => app.output()).toContain('other.tsx: built');
    await page.getByRole('link', { name: 'Other' }).click();
    await page.getByRole('heading', { name: 'Another' }).waitFor();
    expect(documents).toEqual(['/']);
  });
});

describe('the server', () => {
  useOnePage();

  test('refuses no connection while it is replaced', async () => {
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
    app.edit(WORDS, 'from the loader', 'exchanged once');
    await poll(() => page.locator('#data').innerText()).toBe('exchanged once');
    app.edit(WORDS, 'exchanged once', 'exchanged twice');
    await poll(() => page.locator('#data').innerText()).toBe('exchanged twice');
    stopped = true;
    await asking;
    expect(failures).toEqual([]);
    expect(asked).toBeGreaterThan(20);
  });

  test('exits when another one has replaced it, and hints about settings are logged once', () => {
    expect(app.output()).toContain('Stopping. The server finishes the requests in flight, then exits.');
    expect(app.output()).not.toContain('ended unexpectedly');
    const count = (words: string) => app.output().split(words).length - 1;
    expect([count('Listening on') > 2, count('PUBLIC_ORIGINS is not set')]).toEqual([true, 1]);
  });

  test.each([
    ['data', '**/_data/', WORDS, 'exchanged twice', 'exchanged after a cut', '#data'],
    ['a module', '**/pages/home.tsx.js?v=*', HOME, 'First words', 'Second words', 'h1'],
  ])(
    'gets another request for %s if one was cut off, and no state is lost',
    async (_what, path, file, from, to, selector) => {
      // As a server does that ends before it has responded.
      let requests = 0;
      await page.route(path, (route) => {
        requests += 1;
        return requests === 1 ? route.abort('connectionreset') : route.continue();
      });
      app.edit(file, from, to);
      await poll(() => page.locator(selector).innerText()).toBe(to);
      expect(requests).toBeGreaterThan(1);
      await expectKept();
    },
  );
});

async function readState(): Promise<DevState> {
  return (await (await fetch(`${app.url}/_dev/state`)).json()) as DevState;
}

/** Whether a build since the given one has been served or has failed. */
function hasTaken(before: number, { build, served, error }: DevState): boolean {
  return build > before && (served === build || error !== undefined);
}

/** Expects an error overlay with these texts, until it is closed. */
async function expectProblem(...texts: (string | RegExp)[]): Promise<void> {
  for (const text of texts) await page.getByRole('alertdialog').filter({ hasText: text }).waitFor();
}

async function expectMended(): Promise<void> {
  await page.getByRole('alertdialog').waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: 'First words' }).waitFor();
}

describe('a failure', () => {
  useOnePage();
  const PAGES = 'src/server/product/pages/index.ts';

  test('in a build is shown over the page with its line, and disappears when it is fixed', async () => {
    app.edit(HOME, '<footer>the end</footer>', '<footer>the end</fotter>');
    const problem = page.getByRole('alertdialog');
    await problem.waitFor();
    expect(await problem.innerText()).toContain('<footer>the end</fotter>');
    const link = problem.getByRole('link');
    expect(await link.innerText()).toMatch(/^src\/shared\/product\/pages\/home\.tsx:22:\d+ \(open in editor\)$/);
    expect(await link.getAttribute('href')).toMatch(/^vscode:\/\/file\/.+\/home\.tsx:22:\d+$/);
    app.edit(HOME, '</fotter>', '</footer>');
    await problem.waitFor({ state: 'detached' });
    await expectKept();
  });

  test('at the start of a server is shown, and the previous server continues', async () => {
    app.edit(WORDS, 'export', "throw new Error('not today');\nexport");
    await expectProblem('The server did not start', 'not today', 'src/server/product/words.ts:1');
    expect((await fetch(app.url)).status).toBe(200);
    const { build } = await readState();
    app.write(WORDS, app.read(WORDS)); // saved again unchanged
    await poll(async () => hasTaken(build, await readState())).toBe(true);
    await expectProblem('The server did not start');
    app.edit(WORDS, "throw new Error('not today');\n", '');
    await expectMended();
    app.edit(PAGES, 'other: null', 'otehr: null');
    await expectProblem(
      'The route "other" is missing in src/server/product/pages/index.ts',
      'has a server half "otehr", but there is no such route.',
    );
    app.edit(PAGES, 'otehr: null', 'other: null');
    await expectMended();
    await expectKept();
  });

  test('on the server is shown with its source line, and disappears when it is fixed', async () => {
    const words = app.read(WORDS);
    app.write(WORDS, `${words}\nexport function fail() {\n  throw new Error('no words');\n}\n`);
    app.edit(PAGES, "import { words } from '../words.ts';", "import { fail } from '../words.ts';");
    app.edit(PAGES, '({ words })', 'fail()');
    await expectProblem('no words', 'src/server/product/words.ts:4:9 (open in editor)', 'at fail (');
    // A build without a change of the code does not remove the error.
    const { build } = await readState();
    app.write(WORDS, app.read(WORDS));
    await poll(async () => hasTaken(build, await readState())).toBe(true);
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100))); // time for the event
    await expectProblem('no words');
    app.edit(PAGES, "import { fail } from '../words.ts';", "import { words } from '../words.ts';");
    app.edit(PAGES, 'fail()', '({ words })');
    app.write(WORDS, words);
    await expectMended();
    expect(documents).toEqual(['/']);
  });

  test.each([
    ['an event handler', '() => { throw', 'An error outside of rendering'],
    ['a promise that an event handler awaits', 'async () => { throw', 'A promise was rejected, and nothing handled it'],
  ])('in %s is shown with its line', async (_, begins, title) => {
    const plain = '<footer>the end</footer>';
    const failing = `<footer onClick={${begins} new Error('in a handler'); }}>click here</footer>`;
    app.edit(HOME, plain, failing);
    await page.getByText('click here').click();
    await expectProblem(title, 'in a handler', /home\.tsx:22:\d+ \(open in editor\)/);
    app.edit(HOME, failing, plain);
    await expectMended();
    await page.getByText('the end').waitFor();
    complaints.length = 0;
  });

  test('is also shown by the next server', async () => {
    app.edit(PAGES, '({ words })', '{ throw new Error(words); }');
    await poll(async () => (await fetch(app.url)).status).toBe(500);
    const address = (await fetch(app.url)).headers.get('x-error-digest');
    const { build } = await readState();
    app.edit(PAGES, '{ throw new Error(words); }', '({ words })');
    await poll(async () => hasTaken(build, await readState())).toBe(true);
    await poll(async () => (await fetch(app.url)).status).toBe(200);
    const told = await fetch(`${app.url}/_dev/failures/${address}`);
    expect([told.status, JSON.stringify(await told.json())]).toEqual([200, expect.stringContaining('index.ts')]);
    await expectMended();
  });

  test('in sending the data of a loader is shown, and disappears when it is fixed', async () => {
    app.edit(PAGES, '({ words })', '({ words: () => words })');
    await expectProblem('WireError', 'function');
    app.edit(PAGES, '({ words: () => words })', '({ words })');
    await expectMended();
  });

  test('in a component is shown with its line and the components around it, in the browser and on the server', async () => {
    app.edit(HOME, '<p>{seen}</p>', '<p>{seen.no.where}</p>');
    await expectProblem("reading 'where'", 'home.tsx:16:19 (open in editor)', 'at Home (', 'at Root');
    await poll(async () => (await fetch(app.url)).status).toBe(500); // the server is replaced later
    // Each connection begins with the last build, which a page that was loaded with it already has.
    let connections = 0;
    await page.route('**/_dev/events', async (route) => {
      connections += 1;
      const body = `retry: 50\n\ndata: ${JSON.stringify(await readState())}\n\n`;
      await route.fulfill({ contentType: 'text/event-stream', body });
    });
    await page.reload();
    await expectProblem('GET / failed (render)', 'home.tsx:16:19 (open in editor)', 'at Home (');
    const before = connections;
    await poll(() => connections).toBeGreaterThan(before + 2);
    await expectProblem('GET / failed (render)');
    await page.unrouteAll({ behavior: 'wait' });
    app.edit(HOME, '<p>{seen.no.where}</p>', '<p>{seen}</p>');
    await expectMended();
  });
});

describe('a change that cannot be hot-replaced', () => {
  useOnePage();

  test('reloads the page, which keeps typed text, focus and scroll position and shows the reason', async () => {
    await page.getByLabel('Note').focus();
    app.edit('src/shared/product/theme.ts', "createContext('none')", "createContext('nothing')");
    await poll(() => documents).toEqual(['/', '/']);
    await poll(() => page.getByLabel('Note').inputValue()).toBe('half a senten');
    await poll(() => page.evaluate(() => window.scrollY)).toBe(120);
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('note');
    expect(reloads).toEqual([
      'Spillway reloads this page, because src/shared/product/theme.ts exports `Theme`, which is neither a component nor a function.',
    ]);
  });

  test('can also be in the engine', async () => {
    app.edit('src/client/engine/navigation/full-load.ts', 'export', '// changed\nexport const changed = 1;\nexport');
    await poll(() => documents).toEqual(['/', '/', '/']);
  });
});

test('a build does not break the development server', async () => {
  await app.reset();
  await app.build();
  app.edit(WORDS, 'from the loader', 'from a loader after the build');
  await poll(async () => (await fetch(app.url)).text()).toContain('from a loader after the build');
});

test('an edit of an existing app restarts the server', async () => {
  const ask = async () => (await fetch(`${app.url}/old`).catch(() => undefined))?.text();
  await poll(ask).toBe('the first answer');
  app.edit('legacy/app.js', 'first', 'second');
  await poll(ask).toBe('the second answer');
});

test('a failure in the browser is reported by the SDK, and an inline script with a nonce causes no complaint', async () => {
  const script = `<script nonce={useNonce()} suppressHydrationWarning dangerouslySetInnerHTML={{ __html: 'window.ranInline = true' }} />`;
  app.edit(ROOT, 'import { Theme }', "import { useNonce } from '#engine';\nimport { Theme }");
  app.edit(ROOT, '<nav>', `${script}<nav>`);
  await poll(async () => (await fetch(app.url)).text()).toContain('ranInline');
  const recorder = await startRecorder(app.url);
  const opened = await (await shareBrowser()).newPage({
    baseURL: recorder.url,
    userAgent: 'Mozilla/5.0 Chrome/150.0.0.0',
  });
  const seen = await watch(opened);
  await opened.goto('/');
  await exchanged(opened);
  expect(await opened.evaluate(() => (window as { ranInline?: boolean }).ranInline)).toBe(true);
  expect(seen.complaints).toEqual([]);
  await opened.evaluate(() => void setTimeout(() => Promise.reject(new RangeError('too far'))));
  await poll(() => recorder.events.length).toBe(1);
  const [event] = recorder.events;
  expect(event?.exception.values[0]).toMatchObject({ type: 'RangeError', value: 'too far' });
  // The minimal envelope, which is sent if the SDK cannot be loaded, does not have this.
  expect(event?.contexts?.trace?.trace_id).toMatch(/^[0-9a-f]{32}$/);
  await opened.close();
  await recorder.stop();
});

test('npm run dev also stops a server that has just been started', async () => {
  const count = () => app.output().split('built in').length;
  const before = count();
  app.edit(WORDS, 'from a loader after the build', 'other words');
  // The next server is starting, and the previous one still serves requests.
  await expect.poll(count, { timeout: 40_000, interval: 5 }).toBe(before + 1);
  await app.stop(); // It reports servers that are still running.
});
