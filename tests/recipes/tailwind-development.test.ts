import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type DevApp, PATIENCE, startDevApp } from '../e2e/development/dev-app.ts';
import { exchanged } from '../e2e/site.ts';
import { shareBrowser, watch } from '../support/browser.ts';
import { listBlocks } from '../support/recipe-blocks.ts';

const HOME = 'src/shared/product/pages/home.tsx';
const ROOT = 'src/shared/product/pages/root.tsx';
const BASE = 'src/shared/product/pages/root/global.css';
const SHEET = 'src/shared/product/tailwind.css';

let app: DevApp;
let page: Page;
let documents: string[];
let complaints: string[];

beforeAll(async () => {
  const recipe = readFileSync(fileURLToPath(new URL('../../docs/recipes/tailwind.md', import.meta.url)), 'utf8');
  const wanted = listBlocks(recipe).filter(({ file }) => file === SHEET || file.endsWith('build.mjs'));
  const files = Object.fromEntries(wanted.map(({ file, text }) => [file, text]));
  const root = `import { Outlet } from 'react-router';
import '../tailwind.css';

export default function Root() {
  return <Outlet />;
}
`;
  app = await startDevApp({ ...files, [BASE]: 'h1 { margin-top: 3px }\n', [ROOT]: root });
  const browser = await shareBrowser();
  page = await browser.newPage({ baseURL: app.url });
  page.setDefaultTimeout(PATIENCE);
  ({ documents, complaints } = await watch(page));
  await open();
});
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return;
  await app.reset();
  await open();
});
afterAll(async () => {
  await page?.close();
  await app?.stop();
});

async function open(): Promise<void> {
  documents.length = 0;
  complaints.length = 0;
  await page.goto('/');
  await exchanged(page);
  await page.getByRole('button').click();
}

/** Gives the title a class. */
function addClass(): void {
  app.write(HOME, app.read(HOME).replace('className={styles.title}', 'className="pt-[13px] text-water"'));
}

/** Waits until the painted title has these styles. */
async function expectTitle(wanted: Readonly<Record<string, string>>): Promise<void> {
  const read = (): Promise<Record<string, string>> =>
    page.getByRole('heading').evaluate((title, names) => {
      const style = getComputedStyle(title);
      return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(name)]));
    }, Object.keys(wanted));
  await expect.poll(read, { timeout: PATIENCE }).toEqual(wanted);
}

async function expectKept(): Promise<void> {
  await page.getByRole('button', { name: 'clicked 1' }).waitFor();
  expect(documents).toEqual(['/']);
  expect(complaints).toEqual([]);
}

test('a class added to a component gets its style without a reload', async () => {
  await expectTitle({ 'padding-top': '0px', color: 'rgb(1, 2, 3)' });
  addClass();
  await expectTitle({ 'padding-top': '13px', color: 'rgb(29, 111, 165)' });
  await expectKept();
});

test('a class in a new component gets its style without a reload', async () => {
  app.write('src/shared/product/ui/mark.tsx', 'export const Mark = () => <i className="pt-[17px] block">mark</i>;\n');
  app.edit(HOME, 'import { Button }', "import { Mark } from '../ui/mark.tsx';\nimport { Button }");
  app.edit(HOME, '<Button />', '<Button /><Mark />');
  const mark = page.getByText('mark', { exact: true });
  const padding = () => mark.evaluate((element) => getComputedStyle(element).paddingTop);
  await expect.poll(padding, { timeout: PATIENCE }).toBe('17px');
  await expectKept();
});
