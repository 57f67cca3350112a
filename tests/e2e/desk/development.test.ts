import { afterAll, beforeAll, expect, test } from 'vitest';
import { shareBrowser } from '../../support/browser.ts';
import { type DevApp, startDevApp } from '../../support/dev-app.ts';
import { exchanged, isSameDocument, markDocument } from '../site.ts';

const HOME = 'src/shared/product/pages/home.tsx';
/** Allows for a build under load, which takes seconds (ms). */
const PATIENCE = { timeout: 40_000 };
const SIGN_IN = 'src/shared/desk/pages/root/sign-in.tsx';
const SHEET = 'src/shared/desk/pages/root/sign-in.module.css';

let app: DevApp;
beforeAll(async () => {
  app = await startDevApp({}, { HOST: 'localhost' });
}, 120_000);
afterAll(() => app?.stop());

async function open() {
  const browser = await shareBrowser();
  const page = await browser.newPage({ baseURL: app.url, userAgent: 'Mozilla/5.0 Chrome/150.0.0.0' });
  page.setDefaultTimeout(PATIENCE.timeout);
  await page.goto('/desk');
  return { page };
}

test('the desk is served, and its pages are reloaded only when one of its files changes', async () => {
  const { page } = await open();
  const heading = (text: string) => page.getByRole('heading', { level: 1, name: text, exact: true });
  await heading('Sign in to the desk').waitFor();
  await exchanged(page);

  await markDocument(page);
  const before = app.output().length;
  app.edit(HOME, 'First words', 'Second words');
  await expect.poll(() => app.output().slice(before), PATIENCE).toContain(`${HOME}: built`);
  expect(await isSameDocument(page)).toBe(true);

  app.edit(SIGN_IN, '<h1>Sign in to the desk</h1>', '<h1>Come in</h1>');
  await heading('Come in').waitFor();
  expect(page.url()).toBe(`${app.url}/desk`);

  const width = () => page.locator('main > div').evaluate((card) => getComputedStyle(card).borderTopWidth);
  expect(await width()).toBe('1px');
  app.edit(SHEET, 'border: 1px solid var(--line)', 'border: 7px solid var(--line)');
  await expect.poll(() => width().catch(() => ''), PATIENCE).toBe('7px');
  await page.close();
});
