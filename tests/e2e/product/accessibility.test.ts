import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import type { RouteDefinition } from '#engine';
import { routes } from '#product/routes.tsx';
import { expectAccessible, listViolations } from '../accessible.ts';
import { exchanged, hydrated, useSite } from '../site.ts';

const site = useSite();

const WIDE = { width: 1280, height: 900 };

/** All pages of the route table, and a path without a page. */
const paths = [...listPaths(routes), '/nowhere'].filter((path) => path !== '/tour/late-redirect');

function listPaths(table: readonly RouteDefinition[]): string[] {
  return table.flatMap(({ path, children = [] }) => [
    ...(path ? [path.replace(':tab', 'arch')] : []),
    ...listPaths(children),
  ]);
}

describe('axe finds no violation', () => {
  let page: Page;
  beforeAll(async () => {
    ({ page } = await site.open('/', { reducedMotion: 'reduce', isKept: true }));
  });

  test.each(paths)('on %s, where nothing overflows', async (path) => {
    await page.goto(path);
    await hydrated(page);
    await expectAccessible(page);
  });

  test('in what the demos show after use', async () => {
    await page.goto('/tour/forms');
    await exchanged(page);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('#contact [aria-invalid]').first().waitFor();
    expect(await listViolations(page)).toEqual([]);
  });
});

describe('by keyboard', () => {
  const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent?.trim());

  test('the skip link is first, becomes visible, and skips the header', async () => {
    const { page } = await site.open('/tour/forms', { viewport: WIDE });
    await exchanged(page);
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to content');
    expect(
      await page.getByText('Skip to content').evaluate((link) => link.getBoundingClientRect().top),
    ).toBeGreaterThan(0);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('name');
  });

  test('the focus moves through the header in reading order, with a visible outline', async () => {
    const { page } = await site.open('/tour/static', { viewport: WIDE });
    await exchanged(page);
    const seen: (string | undefined)[] = [];
    await page.keyboard.press('Tab');
    for (let index = 0; index < 10; index++) {
      await page.keyboard.press('Tab');
      seen.push(await focused(page));
      const outline = await page.evaluate(() => getComputedStyle(document.activeElement ?? document.body).outline);
      expect(outline).toMatch(/solid 3px/);
    }
    expect(seen).toEqual([
      'Spillway',
      'Streaming',
      'Layouts',
      'Navigation',
      'Forms',
      'Static',
      'Shell',
      'Cards',
      'API',
      'Failures',
    ]);
    const tops = await page
      .locator('header a')
      .evaluateAll((links) => links.map((link) => link.getBoundingClientRect().left));
    expect(tops).toEqual(tops.toSorted((a, b) => a - b));
  });
});

describe('the code on a page', () => {
  const read = (file: string) => readFileSync(fileURLToPath(new URL(`../../../${file}`, import.meta.url)), 'utf8');
  const dedent = (lines: string[]) => {
    const indent = Math.min(...lines.filter((line) => line !== '').map((line) => line.search(/\S/)));
    return lines.map((line) => line.slice(indent)).join('\n');
  };

  test('matches the file and lines in its caption', async () => {
    const { page } = await site.open('/');
    const shown = new Map<string, number>();
    for (const path of paths.filter((path) => !path.startsWith('/tour/fail/'))) {
      await page.goto(path);
      const figures = await page.locator('figure').evaluateAll((all) =>
        all.map((figure) => ({
          caption: figure.querySelector('figcaption')?.textContent ?? '',
          text: figure.querySelector('pre')?.innerText ?? '',
        })),
      );
      for (const { caption, text } of figures) {
        const [, file, first, last = first] = /^(src\/\S+) lines? (\d+)(?: to (\d+))?$/.exec(caption) ?? [];
        if (!file) continue;
        expect(text, caption).toBe(
          dedent(
            read(file)
              .split('\n')
              .slice(Number(first) - 1, Number(last)),
          ),
        );
        shown.set(path, (shown.get(path) ?? 0) + 1);
      }
    }
    expect([...shown.keys()].filter((path) => path.startsWith('/tour/'))).toHaveLength(11);
  });
});
