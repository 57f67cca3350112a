import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { shareBrowser } from '../support/browser.ts';
import { createEmptyApp } from '../support/guide.ts';
import { type OwnedApp, type RunningApp, readProjectFile, startApp } from '../support/owned-app.ts';
import { applyBlocks, listBlocks } from '../support/recipe-blocks.ts';

const HOME = 'src/shared/product/pages/home/home.tsx';

let app: OwnedApp;
let server: RunningApp;
beforeAll(async () => {
  app = createEmptyApp();
  applyBlocks(app.folder, listBlocks(readProjectFile('docs/recipes/tailwind.md')));
  // Elements with and without classes, a class in a `.ts` file, and a page with a CSS module.
  app.write({
    'src/shared/product/ui/tones.ts': "export const tone = 'pt-[21px]';\n",
    [HOME]: `
      import { tone } from '../../ui/tones.ts';
      export default function Home() {
        return (
          <>
            <h1 className="text-water hover:underline sm:text-3xl data-[state='open']:pl-[3px]">Home</h1>
            <h1 className="text-sm mb-[5px]">Small</h1>
            <a className="text-water" href="/other">Other</a>
            <button type="button" className={tone}>Button</button>
            <button type="button">Plain</button>
          </>
        );
      }`,
    'src/shared/product/pages/other/other.tsx': `
      import styles from './other.module.css';
      export default function Other() { return <h1 className={'flex ' + styles.head}>Other</h1>; }`,
    'src/shared/product/pages/other/other.module.css': '.head { color: green }',
  });
  const other = "{ id: 'other', path: '/other', page: () => import('./pages/other/other.tsx') }, { id: 'home'";
  app.replace('src/shared/product/routes.tsx', "{ id: 'home'", other);
  app.replace('src/server/product/pages/index.ts', 'home: null', 'home: null, other: null');
  await app.build();
  server = await startApp(app.folder);
});
afterAll(async () => {
  await server?.stop();
  app?.remove();
});

it('builds one style sheet with only the rules that pages use, together with CSS modules', async () => {
  const html = await (await fetch(server.url)).text();
  expect(html).toContain('class="text-water hover:underline sm:text-3xl ');
  const sheets = [...html.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)].map(([, href]) => href);
  expect(sheets).toHaveLength(1);
  const reply = await fetch(server.url + sheets[0]);
  expect(reply.headers.get('cache-control')).toContain('immutable');
  const css = await reply.text();
  expect(css).toMatch(/--color-water:\s*#1d6fa5/);
  for (const name of ['.text-water', '.hover\\:underline', '.sm\\:text-3xl', 'pl-\\[3px\\]', '.flex'])
    expect(css).toContain(name);
  expect(css).not.toContain('.grid');
  expect(css).not.toMatch(/@(?:theme|source|apply|tailwind|utility)\b/);
  const { other } = JSON.parse(readFileSync(join(app.folder, 'dist/manifest.json'), 'utf8')).routes;
  const [sheet = ''] = other.styles;
  expect(readFileSync(join(app.folder, 'dist/client', sheet), 'utf8')).toMatch(/\.other_\w+_head\{color:green\}/);
});

it('keeps the base styles, and a class overrides them', async () => {
  const page = await (await shareBrowser()).newPage();
  await page.goto(server.url);
  const read = (selector: string, property: string) =>
    page.locator(selector).evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property);

  for (const [selector, property, value] of [
    ['h1 >> text=Small', 'font-size', '14px'],
    ['h1 >> text=Small', 'margin-bottom', '5px'],
    ['main a', 'color', 'rgb(29, 111, 165)'],
    ['button >> text=Button', 'padding-top', '21px'],
    ['button >> text=Button', 'padding-left', '16px'],
    ['button >> text=Plain', 'padding-top', '8px'],
    ['button >> text=Plain', 'border-radius', '8px'],
  ] as const) {
    expect([selector, property, await read(selector, property)]).toEqual([selector, property, value]);
  }
  await page.close();
});
