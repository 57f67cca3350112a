import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 390, height: 844 };

/** @returns the violations that axe finds in the page as it is now */
async function listViolations(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate(
    (only) =>
      (window as unknown as { axe: typeof axe }).axe.run({
        resultTypes: ['violations'],
        ...(only && { runOnly: [...only] }),
      }),
    rules,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/**
 * Expects no axe violations and no overflow, once with a wide and light page, once with a narrow and dark one. Also that
 * the narrow one does not overflow with text of twice the size.
 */
export async function expectAccessible(page: Page): Promise<void> {
  await page.setViewportSize(WIDE);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  expect(await listViolations(page), 'wide and light').toEqual([]);
  await expectFits(page);
  await page.setViewportSize(NARROW);
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  // Other rules find the same, because the markup is the same.
  const rules = ['color-contrast', 'target-size', 'scrollable-region-focusable'];
  expect(await listViolations(page, rules), 'narrow and dark').toEqual([]);
  await expectFits(page);
  const session = await page.context().newCDPSession(page);
  const setTextSize = (standard: number) => session.send('Page.setFontSizes', { fontSizes: { standard } });
  await setTextSize(32);
  await expectFits(page);
  await setTextSize(16);
}

/** Expects that neither the page nor its code blocks overflow horizontally. */
async function expectFits(page: Page): Promise<void> {
  const excess = await page.evaluate(() => {
    const code = [...document.querySelectorAll('pre')].map((pre) => pre.scrollWidth - pre.clientWidth);
    return Math.max((document.scrollingElement?.scrollWidth ?? 0) - innerWidth, ...code);
  });
  expect(excess, 'pixels too wide').toBeLessThanOrEqual(0);
}
