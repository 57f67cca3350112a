import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser } from '../../support/browser.ts';
import { exchanged } from '../site.ts';
import { type DevApp, startDevApp } from './dev-app.ts';

const MODULES = 300;
const EDITS = 12;
const WORDS = 'src/server/product/words.ts';
const HOME = 'src/shared/product/pages/home.tsx';
const partFile = (index: number): string => `src/shared/product/parts/part-${index}.tsx`;

let browser: Awaited<ReturnType<typeof launchBrowser>>;
let app: DevApp;

beforeAll(async () => {
  const parts = Array.from({ length: MODULES }, (_, index) => [
    partFile(index),
    `export function Part${index}() {\n  return <li>part ${index} as it was</li>;\n}\n`,
  ]);
  [browser, app] = await Promise.all([launchBrowser(), startDevApp(Object.fromEntries(parts))]);
  const imports = Array.from(
    { length: MODULES },
    (_, index) => `import { Part${index} } from '../parts/part-${index}.tsx';`,
  );
  const items = Array.from({ length: MODULES }, (_, index) => `<Part${index} />`);
  app.edit(HOME, 'import { useState }', `${imports.join('\n')}\nimport { useState }`);
  app.edit(HOME, '<footer>', `<ul>${items.join('')}</ul><footer>`);
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

// A build takes seconds if other tests share the cores.
test('prints the time from saving to painting, with 300 modules of the product', { timeout: 180_000 }, async () => {
  const readPage = async () => (await fetch(app.url)).text();
  await expect.poll(readPage, { timeout: 60_000 }).toContain('part 299 ');
  const page = await browser.newPage({ baseURL: app.url });
  // Explains a reload, which would lose the state that the last line checks.
  page.on('console', (message) => message.text().startsWith('Spillway') && console.log(message.text()));
  page.on('requestfailed', (request) => {
    // Chromium reports every HEAD request without a length as aborted.
    if (request.method() !== 'HEAD') console.log('failed:', request.url(), request.failure()?.errorText);
  });
  page.on('request', (request) => {
    if (request.isNavigationRequest()) console.log('document:', request.url());
  });
  await page.goto('/');
  await exchanged(page);
  await page.getByRole('button').click();
  const pages: number[] = [];
  const loaders: number[] = [];
  let last = 'the end';
  let lastWords = 'from the loader';
  for (let edit = 0; edit < EDITS; edit++) {
    const shown = `edit ${edit} of this`;
    const save =
      edit % 2 === 0 ? () => app.edit(HOME, last, shown) : () => app.edit(partFile(edit), 'as it was', shown);
    pages.push(await timeUntilPainted(page, shown, save));
    if (edit % 2 === 0) last = shown;
    await page.waitForTimeout(700); // after each edit, the server is replaced
  }
  for (let edit = 0; edit < EDITS / 2; edit++) {
    const words = `words ${edit} of the loader`;
    loaders.push(await timeUntilPainted(page, words, () => app.edit(WORDS, lastWords, words)));
    lastWords = words;
    await page.waitForTimeout(300);
  }
  console.log(`Saved to painted, ${MODULES} modules: ${toWords(pages)}; data of a loader: ${toWords(loaders)}`);
  await page.getByRole('button', { name: 'clicked 1' }).waitFor();
  expect([pages.length, loaders.length]).toEqual([EDITS, EDITS / 2]);
});

/** Measures the time from saving a file until its text is in a frame (ms). */
async function timeUntilPainted(page: Page, words: string, save: () => void): Promise<number> {
  const painted = page.evaluate(
    (text) =>
      new Promise<number>((resolve) => {
        function look(): void {
          if (document.body.textContent?.includes(text)) resolve(Date.now());
          else requestAnimationFrame(look);
        }
        look();
      }),
    words,
  );
  const savedAt = Date.now();
  save();
  return (await painted) - savedAt;
}

function toWords(times: readonly number[]): string {
  const sorted = [...times].sort((a, b) => a - b);
  return `median ${sorted[Math.floor(sorted.length / 2)]} ms, worst ${sorted.at(-1)} ms`;
}
