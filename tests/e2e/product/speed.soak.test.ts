import { expect, test } from 'vitest';
import { exchanged, heading, useSite } from '../site.ts';

const site = useSite();

const ROUNDS = 5;

/** Prints a figure without checking a limit, because machines differ. */
test('prints the time from a click to the painted page, if it was prefetched', async () => {
  const { page, data } = await site.open('/tour/api');
  await exchanged(page);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const link = page.getByRole('link', { name: 'Cards', exact: true }).first();
    data.length = 0;
    const answered = page.waitForResponse('**/_data/tour/cards');
    await link.hover();
    await (await answered).finished();
    await page.waitForTimeout(50);
    const time = await link.evaluate(
      (element: HTMLElement) =>
        new Promise<number>((resolve) => {
          const started = performance.now();
          const observer = new MutationObserver(() => {
            if (document.querySelector('h1')?.textContent !== 'Cards') return;
            observer.disconnect();
            // The second frame after the change begins when the change has been painted.
            requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - started)));
          });
          observer.observe(document, { childList: true, subtree: true, characterData: true });
          element.click();
        }),
    );
    times.push(time);
    expect(data).toHaveLength(1);
    await page.getByRole('link', { name: 'API', exact: true }).first().click();
    await heading(page, 'API');
  }
  const sorted = times.toSorted((a, b) => a - b);
  const [best = 0, median = 0, worst = 0] = [sorted[0], sorted[Math.floor(ROUNDS / 2)], sorted.at(-1)];
  expect(times).toHaveLength(ROUNDS);
  process.stdout.write(
    `Click to painted page, prefetched, 50 cards: ${Math.round(median)} ms (best ${Math.round(best)}, worst ${Math.round(worst)})\n`,
  );
});
