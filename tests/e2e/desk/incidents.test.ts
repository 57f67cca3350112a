import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible } from '../accessible.ts';
import { exchanged, heading, hydrated, useSite, type VisitOptions } from '../site.ts';
import { deskSession } from './session.ts';

const site = useSite(async () => ({}));

const WIDE = { width: 1280, height: 900 };
const FAILED = 'Error: The tour threw this in a loader.';

/** @returns the address of the failure that a request to this path causes */
async function failAt(path: string): Promise<string> {
  const reply = await fetch(site.url + path, { headers: { accept: 'text/html' } });
  return reply.headers.get('x-error-digest') ?? '';
}

beforeAll(async () => {
  for (const path of ['/tour/fail/loader', '/tour/fail/render', '/api/tour/fail']) await failAt(path);
});

const openDesk = (path: string, options: VisitOptions = {}) =>
  site.open(path, { viewport: WIDE, session: deskSession, ...options });

const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent);

describe('the source line of a failure', () => {
  test('is found by typing the address, or by clicking the incident', async () => {
    const address = await failAt('/tour/fail/loader');
    const { page, complaints } = await openDesk('/desk');
    const search = page.getByRole('searchbox', { name: 'Search incidents' });
    await search.fill(address);
    await search.press('Enter');
    await heading(page, FAILED);
    await page.getByText("throw new Error('The tour threw this in a loader.');").waitFor();
    expect(new URL(page.url()).pathname).toBe(`/desk/${address.replace('-', '/')}`);

    await page.getByRole('link', { name: 'Incidents', exact: true }).click();
    await page.getByRole('link', { name: FAILED }).click();
    await page.getByText("throw new Error('The tour threw this in a loader.');").waitFor();
    expect(complaints).toEqual([]);
  });
});

describe.each([
  ['with JavaScript', true],
  ['without JavaScript', false],
])('changing an incident %s', (_name, javaScriptEnabled) => {
  test('resolves it, adds a note and reopens it', async () => {
    const address = await failAt('/tour/fail/render');
    const { page, complaints } = await openDesk(`/desk/${address.slice(0, 8)}`, { javaScriptEnabled });
    if (javaScriptEnabled) await exchanged(page);
    await page.getByRole('button', { name: 'Resolve' }).click();
    await page.getByText('Resolved.', { exact: true }).waitFor();
    await page.getByRole('textbox', { name: 'Note' }).fill(`Written ${_name}.`);
    await page.getByRole('button', { name: 'Add note' }).click();
    await page.getByText(`Written ${_name}.`).waitFor();
    await page.getByRole('button', { name: 'Reopen' }).click();
    await page.getByText('Reopened.', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Resolve' }).waitFor();
    expect(complaints).toEqual([]);
  });
});

describe('by keyboard', () => {
  test('the list can be navigated, opened, changed and searched', async () => {
    const { page, complaints } = await openDesk('/desk');
    await exchanged(page);
    const titles = await page.locator('[data-open]').allTextContents();
    await page.keyboard.press('j');
    expect(await focused(page)).toBe(titles[0]);
    await page.keyboard.press('j');
    expect(await focused(page)).toBe(titles[1]);
    await page.keyboard.press('k');
    expect(await focused(page)).toBe(titles[0]);

    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('search');
    await page.keyboard.type('j');
    await page.keyboard.press('Escape');
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());

    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await heading(page, titles[0] ?? '');
    expect(complaints).toEqual([]);
  });

  test('`e` resolves the focused incident', async () => {
    const address = await failAt('/api/tour/fail');
    const { page } = await openDesk('/desk?search=API%20handler');
    await exchanged(page);
    await page.keyboard.press('j');
    await page.keyboard.press('e');
    await page.getByText('1 incident resolved.').waitFor();
    await page.goto(`/desk/${address.slice(0, 8)}`);
    await page.getByText('Resolved', { exact: true }).waitFor();
  });
});

describe('relative times', () => {
  test('are updated while a page is open', async () => {
    const { page } = await openDesk('/desk?search=loader', { before: (opened) => opened.clock.install() });
    await hydrated(page);
    const seen = page.locator('[data-row] time').first();
    await seen.waitFor();
    await page.clock.fastForward('03:00:00');
    await expect.poll(() => seen.textContent()).toBe('3 h ago');
  });
});

describe('the stack', () => {
  test('is copied as text', async () => {
    const { page } = await openDesk('/desk?search=loader', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByRole('link', { name: FAILED }).click();
    const button = page.getByRole('button', { name: 'Copy as text' });
    await button.click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain(`${FAILED}\n    at failLoader.loader (src/server/product/pages/fail-loader.ts:`);
  });
});

describe('the test of an occurrence', () => {
  test('is copied, also as text without scripts', async () => {
    const address = await failAt('/tour/fail/loader');
    const href = `/desk/${address.replace('-', '/')}`;
    const { page, complaints } = await openDesk(href, { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByRole('button', { name: 'Copy as test' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain(`it('GET /tour/fail/loader does not fail with ${address.slice(0, 8)}'`);
    expect(complaints).toEqual([]);
    const plain = await openDesk(href, { javaScriptEnabled: false });
    await plain.page.getByText(`tests/product/failures/${address.slice(0, 8)}.test.ts`).click();
    expect(await plain.page.locator('pre', { hasText: 'openApp' }).innerText()).toBe(copied);
  });
});

describe('axe finds no violation, and nothing overflows', () => {
  const paths = ['/desk', '/desk?state=resolved', '/desk?kind=csp', '/desk?state=all&search=tour', 'incident'];

  test.each(paths)('on %s', async (path) => {
    const address = path === 'incident' ? await failAt('/tour/fail/loader') : '';
    const { page, complaints } = await openDesk(address ? `/desk/${address.replace('-', '/')}` : path);
    await hydrated(page);
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });
});
