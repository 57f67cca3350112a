import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DevApp, startDevApp } from '../e2e/development/dev-app.ts';
import { exchanged } from '../e2e/site.ts';
import { shareBrowser, watch } from '../support/browser.ts';
import { listBlocks } from '../support/recipe-blocks.ts';

/** Allows for a build under load, which takes seconds. */
const PATIENCE = { timeout: 40_000 };

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
  page.setDefaultTimeout(PATIENCE.timeout);
  ({ documents, complaints } = await watch(page));
  await page.goto('/');
  await exchanged(page);
  await page.getByRole('button').click();
}, 120_000);
afterAll(async () => {
  await page?.close();
  await app?.stop();
});

/** Waits until the painted title has these styles. */
async function expectTitle(wanted: Readonly<Record<string, string>>): Promise<void> {
  const read = (): Promise<Record<string, string>> =>
    page.getByRole('heading').evaluate((title, names) => {
      const style = getComputedStyle(title);
      return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(name)]));
    }, Object.keys(wanted));
  await expect.poll(read, PATIENCE).toEqual(wanted);
}

async function expectKept(): Promise<void> {
  await page.getByRole('button', { name: 'clicked 1' }).waitFor();
  expect(documents).toEqual(['/']);
  expect(complaints).toEqual([]);
}

test('a class added to a component gets its style without a reload', async () => {
  await expectTitle({ 'padding-top': '0px', color: 'rgb(1, 2, 3)' });
  app.edit(HOME, 'className={styles.title}', 'className="pt-[13px] text-water"');
  await expectTitle({ 'padding-top': '13px', color: 'rgb(29, 111, 165)' });
  await expectKept();
});
