import { expect, onTestFinished, test } from 'vitest';
import { PATIENCE, startDevApp } from '../e2e/development/dev-app.ts';
import { exchanged } from '../e2e/site.ts';
import { shareBrowser, watch } from '../support/browser.ts';
import { listRecipe } from './recipe.ts';

const HOME = 'src/shared/product/pages/home.tsx';
const SHEET = 'src/shared/product/tailwind.css';

test('a class that is added to a component, or is in a new one, gets its style without a reload', async () => {
  const wanted = listRecipe('tailwind').filter(({ file }) => file === SHEET || file.endsWith('build.mjs'));
  const app = await startDevApp({
    ...Object.fromEntries(wanted.map(({ file, text }) => [file, text])),
    'src/shared/product/pages/root/global.css': 'h1 { margin-top: 3px }\n',
    'src/shared/product/pages/root.tsx': `import { Outlet } from 'react-router';
import '../tailwind.css';

export default function Root() {
  return <Outlet />;
}
`,
  });
  onTestFinished(() => app.stop());
  const page = await (await shareBrowser()).newPage({ baseURL: app.url });
  onTestFinished(() => page.close());
  const { documents, complaints } = await watch(page);
  await page.goto('/');
  await exchanged(page);
  await page.getByRole('button').click();
  const expectStyle = (text: string, property: string, value: string) =>
    expect
      .poll(
        () =>
          page
            .getByText(text, { exact: true })
            .evaluate((it, name) => getComputedStyle(it).getPropertyValue(name), property),
        { timeout: PATIENCE },
      )
      .toBe(value);

  await expectStyle('First words', 'padding-top', '0px');
  app.edit(HOME, 'className={styles.title}', 'className="pt-[13px] text-water"');
  await expectStyle('First words', 'padding-top', '13px');
  await expectStyle('First words', 'color', 'rgb(29, 111, 165)');
  app.write('src/shared/product/ui/mark.tsx', 'export const Mark = () => <i className="pt-[17px] block">mark</i>;\n');
  app.edit(HOME, 'import { Button }', "import { Mark } from '../ui/mark.tsx';\nimport { Button }");
  app.edit(HOME, '<Button />', '<Button /><Mark />');
  await expectStyle('mark', 'padding-top', '17px');
  await page.getByRole('button', { name: 'clicked 1' }).waitFor();
  expect([documents, complaints]).toEqual([['/'], []]);
}, 240_000);
