import { expect, it } from 'vitest';
import { openPage, useRecipe } from './recipe.ts';

const HOME = 'src/shared/product/pages/home/home.tsx';
/** The server drops these reports: the policy that counts allows workers of this site. */
const isOther = (complaint: string) => !complaint.includes(' Worker constructor|/assets/sum-worker.ts-');
/** The smallest module: a header, and nothing else. */
const MODULE = 'new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])';

const app = useRecipe('workers', ({ write }) =>
  write({
    [HOME]: `
      import { Sum } from '../../ui/sum.tsx';
      const numbers = [1, 2, 3];
      export default function Home() {
        return <Sum numbers={numbers} />;
      }`,
  }),
);

it('runs a worker of the product', async () => {
  const { url } = await app.start();
  const { page, complaints } = await openPage(url);
  await expect.poll(() => page.locator('output').textContent()).toBe('6');
  expect(complaints.filter(isOther)).toEqual([]);
});

it('compiles WebAssembly', async () => {
  const { url } = await app.start();
  const { page, complaints } = await openPage(url);
  expect(await page.evaluate(`WebAssembly.compile(${MODULE}).then(String)`)).toBe('[object WebAssembly.Module]');
  expect(complaints.filter(isOther)).toEqual([]);
});
