import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DevState } from '../../../src/shared/engine/develop-protocol.ts';
import { launchBrowser, watch } from '../../support/browser.ts';
import { type DevApp, startDevApp } from '../../support/dev-app.ts';
import { exchanged } from '../site.ts';

const HOME = 'src/shared/product/pages/home.tsx';
const BUTTON = 'src/shared/product/ui/button.tsx';

let browser: Browser;
let app: DevApp;
let page: Page;
let documents: string[];
let complaints: string[];

beforeAll(async () => {
  [browser, app] = await Promise.all([launchBrowser(), startDevApp()]);
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await app?.stop();
}, 30_000);

beforeEach(async () => {
  page = await browser.newPage({ baseURL: app.url, viewport: { width: 800, height: 500 } });
  page.setDefaultTimeout(20_000);
  ({ documents, complaints } = await watch(page));
  await page.goto('/');
  await exchanged(page);
  await page.getByRole('button').click();
  await page.getByRole('button', { name: 'clicked 1' }).waitFor();
  await page.getByLabel('Note').fill('half a senten');
  await page.evaluate(() => window.scrollTo(0, 120));
}, 60_000);
afterEach(async () => {
  await page?.close();
  await app?.reset();
}, 60_000);

/** Builds and browser share two cores with other tests. */
const poll = <T>(read: () => T) => expect.poll(read, { timeout: 20_000 });

/** What the visitor has done is still there: a count, a text, a place. */
async function expectKept({ count = 1 } = {}): Promise<void> {
  await page.getByRole('button', { name: `clicked ${count}` }).waitFor();
  expect(await page.getByLabel('Note').inputValue()).toBe('half a senten');
  expect(await page.evaluate(() => window.scrollY)).toBe(120);
}

describe('an edit', () => {
  test('of a page is shown, and costs no state', async () => {
    app.edit(HOME, 'First words', 'Second words');
    await page.getByRole('heading', { name: 'Second words' }).waitFor();
    await expectKept();
    expect(documents).toEqual(['/']);
    app.edit(HOME, 'Second words', 'Third words');
    await page.getByRole('heading', { name: 'Third words' }).waitFor();
    await expectKept();
    expect(documents).toEqual(['/']);
    expect(complaints).toEqual([]);
  });

  test('of a part that a page uses is shown, and costs no state', async () => {
    app.edit(BUTTON, 'clicked {count}', 'clicked {count} times');
    await page.getByRole('button', { name: 'clicked 1 times' }).waitFor();
    await expectKept();
    expect(documents).toEqual(['/']);
  });

  test('of a style sheet is shown, and costs no state', async () => {
    app.edit('src/shared/product/pages/home.module.css', 'rgb(1, 2, 3)', 'rgb(4, 5, 6)');
    await poll(() => page.getByRole('heading').evaluate((heading) => getComputedStyle(heading).color)).toBe(
      'rgb(4, 5, 6)',
    );
    await expectKept();
    expect(await page.locator('link[rel="stylesheet"]').count()).toBe(1);
    expect(documents).toEqual(['/']);
    // A page that is loaded now has the new sheet too.
    const [sheet] = await page
      .locator('link[rel="stylesheet"]')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    await poll(async () => (await fetch(app.url)).text()).toContain(sheet);
  });

  test('that adds a class to a sheet and uses it is shown, and costs no state', async () => {
    app.edit('src/shared/product/pages/home.module.css', '.title', '.note { color: rgb(7, 8, 9) }\n.title');
    app.edit(HOME, '<p>{seen}</p>', '<p id="note" className={styles.note}>{seen}</p>');
    await poll(() => page.locator('#note').evaluate((note) => getComputedStyle(note).color)).toBe('rgb(7, 8, 9)');
    await expectKept();
    expect(documents).toEqual(['/']);
  });

  test('that adds a hook starts that component anew, and no other', async () => {
    app.edit(BUTTON, 'useState(0);', "useState(0);\n  const [unit] = useState('times');");
    app.edit(BUTTON, 'clicked {count}', 'clicked {count} {unit}');
    await page.getByRole('button', { name: 'clicked 0 times' }).waitFor();
    expect(await page.getByLabel('Note').inputValue()).toBe('half a senten');
    expect(documents).toEqual(['/']);
  });

  test('of a hook that components share is shown, and costs no state', async () => {
    app.edit('src/shared/product/use-label.ts', "'theme '", "'the theme is '");
    await poll(() => page.locator('#label').innerText()).toBe('the theme is blue');
    await expectKept();
    expect(documents).toEqual(['/']);
  });

  test('of the document is shown by a page that was not loaded anew', async () => {
    app.edit('src/shared/product/pages/root.tsx', 'value="blue"', 'value="green"');
    await poll(() => page.locator('#label').innerText()).toBe('theme green');
    await expectKept();
    expect(documents).toEqual(['/']);
  });

  test('that adds a module and uses it is shown, and costs no state', async () => {
    for (let index = 0; index < 4; index++) {
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
    expect(documents).toEqual(['/']);
    expect(complaints).toEqual([]);
  });

  test('that is saved in two steps, the first of which empties the file, is shown, and costs no state', async () => {
    const text = app.read(HOME);
    app.write(HOME, '');
    await new Promise((resolve) => setTimeout(resolve, 60)); // long enough for a build to begin
    app.write(HOME, text.replace('First words', 'Second words'));
    await page.getByRole('heading', { name: 'Second words' }).waitFor();
    await expectKept();
    expect(documents).toEqual(['/']);
  });

  test('of a page that is not open is there when it is gone to', async () => {
    app.edit('src/shared/product/pages/other.tsx', '<h1>Other', '<h1>Another');
    await poll(() => app.output()).toContain('other.tsx: built');
    await page.getByRole('link', { name: 'Other' }).click();
    await page.getByRole('heading', { name: 'Another' }).waitFor();
    expect(documents).toEqual(['/']);
  });
});

describe('what cannot be exchanged', () => {
  test('is shown by a reload that keeps what was typed, the focus and the place, and says why', async () => {
    const said: string[] = [];
    page.on('console', (message) => message.text().startsWith('Spillway') && said.push(message.text()));
    await page.getByLabel('Note').focus();
    await page.evaluate(() => window.scrollTo(0, 120));
    app.edit('src/shared/product/theme.ts', "createContext('none')", "createContext('nothing')");
    await poll(() => documents).toEqual(['/', '/']);
    await poll(() => page.getByLabel('Note').inputValue()).toBe('half a senten');
    await poll(() => page.evaluate(() => window.scrollY)).toBe(120);
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('note');
    expect(said).toEqual([
      'Spillway reloads this page, because src/shared/product/theme.ts exports `Theme`, which is neither a component nor a function.',
    ]);
  });

  test('is the engine too', async () => {
    app.edit('src/client/engine/full-load.ts', 'export', '// changed\nexport const changed = 1;\nexport');
    await poll(() => documents).toEqual(['/', '/']);
  });
});

describe('the server', () => {
  test('is exchanged, and its data shown without a reload', async () => {
    app.edit('src/server/product/words.ts', 'from the loader', 'from another loader');
    await poll(() => page.locator('#data').innerText()).toBe('from another loader');
    await expectKept();
    expect(documents).toEqual(['/']);
  });

  test('refuses no connection while it is exchanged', async () => {
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
        }
      }),
    );
    app.edit('src/server/product/words.ts', 'from the loader', 'exchanged once');
    await poll(() => page.locator('#data').innerText()).toBe('exchanged once');
    app.edit('src/server/product/words.ts', 'exchanged once', 'exchanged twice');
    await poll(() => page.locator('#data').innerText()).toBe('exchanged twice');
    stopped = true;
    await asking;
    expect(failures).toEqual([]);
    expect(asked).toBeGreaterThan(20);
  });
});

/** As where the server ends before it has answered. */
async function cutFirst(path: string): Promise<() => number> {
  let cut = 0;
  await page.route(path, (route) => {
    cut += 1;
    return cut === 1 ? route.abort('connectionreset') : route.continue();
  });
  return () => cut;
}

describe('a request that is cut while the server is exchanged', () => {
  test('is made again where it asked for data: no state is lost', async () => {
    const countRequests = await cutFirst('**/_data/');
    app.edit('src/server/product/words.ts', 'from the loader', 'from another loader');
    await poll(() => page.locator('#data').innerText()).toBe('from another loader');
    expect(countRequests()).toBeGreaterThan(1);
    await expectKept();
    expect(documents).toEqual(['/']);
  });

  test('is made again where it asked for a module', async () => {
    const countRequests = await cutFirst('**/assets/home-*.js');
    app.edit(HOME, 'First words', 'Second words');
    await page.getByRole('heading', { name: 'Second words' }).waitFor();
    expect(countRequests()).toBeGreaterThan(1);
    await expectKept();
    expect(documents).toEqual(['/']);
  });
});

describe('a build that fails', () => {
  test('is shown over the page with its line, and goes when it is mended', async () => {
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
    expect(documents).toEqual(['/']);
  });
});

async function readState(): Promise<DevState> {
  return (await (await fetch(`${app.url}/_dev/state`)).json()) as DevState;
}

/** Whether what was saved since a build has come to its end, good or bad. */
function hasTaken(before: number, { build, served, error }: DevState): boolean {
  return build > before && (served === build || error !== undefined);
}

/** What stands over the page, until it is gone again. */
async function expectProblem(...texts: (string | RegExp)[]): Promise<void> {
  for (const text of texts) await page.getByRole('alertdialog').filter({ hasText: text }).waitFor();
}

async function expectMended(): Promise<void> {
  await page.getByRole('alertdialog').waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: 'First words' }).waitFor();
}

describe('what fails while it runs', () => {
  const WORDS = 'src/server/product/words.ts';
  const PAGES = 'src/server/product/pages/index.ts';

  test('on the server is shown with its line of source, and goes when it is mended', async () => {
    app.write(WORDS, "export const words = 'x';\n\nexport function fail() {\n  throw new Error('no words');\n}\n");
    app.edit(PAGES, "import { words } from '../words.ts';", "import { fail } from '../words.ts';");
    app.edit(PAGES, '({ words })', 'fail()');
    await expectProblem('no words', 'src/server/product/words.ts:4:9 (open in editor)', 'at fail (');
    app.edit(PAGES, "import { fail } from '../words.ts';", "import { words } from '../words.ts';");
    app.edit(PAGES, 'fail()', '({ words })');
    await expectMended();
    expect(documents).toEqual(['/']);
  });

  test('and loader data that cannot be sent', async () => {
    app.edit(PAGES, '({ words })', '({ words: () => words })');
    await expectProblem('WireError', 'function');
    app.edit(PAGES, '({ words: () => words })', '({ words })');
    await expectMended();
  });

  test('in a component is shown with its line and the components around it, in the browser and on the server', async () => {
    app.edit(HOME, '<p>{seen}</p>', '<p>{seen.no.where}</p>');
    await expectProblem("reading 'where'", 'home.tsx:16:19 (open in editor)', 'at Home (', 'at Root');
    await poll(async () => (await fetch(app.url)).status).toBe(500); // the server follows the browser
    await page.reload();
    await expectProblem('GET / failed (render)', 'home.tsx:16:19 (open in editor)', 'at Home (');
    app.edit(HOME, '<p>{seen.no.where}</p>', '<p>{seen}</p>');
    await expectMended();
  });

  test('and a server that does not start: the one before it goes on', async () => {
    app.edit(WORDS, 'export', "throw new Error('not today');\nexport");
    await expectProblem('The server did not start', 'not today', 'src/server/product/words.ts:1');
    expect((await fetch(app.url)).status).toBe(200);
    const { build } = await readState();
    app.write(WORDS, app.read(WORDS)); // saved once more as it is
    await poll(async () => hasTaken(build, await readState())).toBe(true);
    await expectProblem('The server did not start');
    app.edit(WORDS, "throw new Error('not today');\n", '');
    await expectMended();
    app.edit(PAGES, 'other: null', 'otehr: null');
    await expectProblem(
      'The route "other" has no server half. Give it one in src/server/product/pages/index.ts',
      'The server half "otehr" has no route.',
    );
    app.edit(PAGES, 'otehr: null', 'other: null');
    await expectMended();
    await expectKept();
    expect(documents).toEqual(['/']);
  });
});
