import { expect, test } from 'vitest';
import { launchBrowser } from '../../support/browser.ts';
import { startDevApp } from '../../support/dev-app.ts';
import { exchanged, isSameDocument, markDocument } from '../site.ts';

const SIGN_IN = 'src/shared/desk/pages/root/sign-in.tsx';
const SHEET = 'src/shared/desk/pages/root/sign-in.module.css';
const HOME = 'src/shared/product/pages/home.tsx';

test('npm run dev serves the desk, whose pages are loaded anew when something of it changes, and then alone', async () => {
  const [app, browser] = await Promise.all([startDevApp(), launchBrowser()]);
  try {
    const page = await browser.newPage({ baseURL: app.url });
    page.setDefaultTimeout(40_000);
    await page.goto('/desk');
    const heading = (text: string) => page.getByRole('heading', { level: 1, name: text, exact: true });
    await heading('Sign in to the desk').waitFor();
    await exchanged(page);

    await markDocument(page);
    await markDocument(page);
    app.edit(HOME, 'First words', 'Second words');
    await expect.poll(() => app.output(), { timeout: 40_000 }).toContain(`${HOME}: built`);
    expect(await isSameDocument(page)).toBe(true);

    app.edit(SIGN_IN, '<h1>Sign in to the desk</h1>', '<h1>Come in</h1>');
    await heading('Come in').waitFor();
    expect(page.url()).toBe(`${app.url}/desk`);

    const width = () => page.locator('main > div').evaluate((card) => getComputedStyle(card).borderTopWidth);
    expect(await width()).toBe('1px');
    app.edit(SHEET, 'border: 1px solid var(--line)', 'border: 7px solid var(--line)');
    await expect.poll(() => width().catch(() => ''), { timeout: 40_000 }).toBe('7px');
  } finally {
    await browser.close();
    await app.stop();
  }
}, 180_000);
