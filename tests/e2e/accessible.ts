import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 390, height: 844 };

/** @returns what axe finds in the page as it is shown now */
export async function listViolations(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (window as unknown as { axe: typeof axe }).axe.run({ resultTypes: ['violations'] }),
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** Axe finds nothing, and nothing is wider than its place: once wide and light, once narrow and dark. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.setViewportSize(WIDE);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  expect(await listViolations(page), 'wide and light').toEqual([]);
  await expectFits(page);
  await page.setViewportSize(NARROW);
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  expect(await listViolations(page), 'narrow and dark').toEqual([]);
  await expectFits(page);
}

/** Neither the page nor the code on it is wider than its place. */
async function expectFits(page: Page): Promise<void> {
  const excess = await page.evaluate(() => {
    const code = [...document.querySelectorAll('pre')].map((pre) => pre.scrollWidth - pre.clientWidth);
    return Math.max((document.scrollingElement?.scrollWidth ?? 0) - innerWidth, ...code);
  });
  expect(excess, 'pixels too wide').toBeLessThanOrEqual(0);
}
