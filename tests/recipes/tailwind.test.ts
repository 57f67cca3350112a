import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOwnedApp, type OwnedApp, readProjectFile } from '../support/owned-app.ts';
import { listBlocks } from '../support/recipe-blocks.ts';

const createTailwindApp = () => createOwnedApp(listBlocks(readProjectFile('docs/recipes/tailwind.md')));
let app: OwnedApp;

beforeAll(async () => {
  app = createTailwindApp();
  await app.build();
});
afterAll(() => app.remove());

it('serves one style sheet with only the rules that pages use', async () => {
  const { url } = await app.start();
  const html = await (await fetch(url)).text();
  expect(html).toContain('class="text-water hover:underline sm:text-3xl ');
  const sheets = [...html.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)].map(([, href]) => href);
  expect(sheets).toHaveLength(1);
  const reply = await fetch(url + sheets[0]);
  expect(reply.headers.get('cache-control')).toContain('immutable');
  const css = await reply.text();
  expect(css).toMatch(/--color-water:\s*#1d6fa5/);
  for (const name of [
    '.text-water',
    '.hover\\:underline',
    '.sm\\:text-3xl',
    '.mx-auto',
    '.max-w-prose',
    'pl-\\[3px\\]',
  ]) {
    expect(css).toContain(name);
  }
  expect(css).not.toContain('.flex');
  expect(css).not.toMatch(/@(?:theme|source|apply|tailwind|utility)\b/);
});

it('adds the rules of a new class, together with CSS modules', async () => {
  const other = createTailwindApp();
  other.write({
    'src/shared/product/pages/home/home.tsx': `
      import styles from './home.module.css';
      export default function Home() { return <h1 className={'flex ' + styles.head}>Home</h1>; }`,
    'src/shared/product/pages/home/home.module.css': '.head { color: green }',
  });
  await other.build();
  const manifest = JSON.parse(readFileSync(join(other.folder, 'dist/manifest.json'), 'utf8'));
  const read = (id: string) =>
    manifest.routes[id].styles
      .map((path: string) => readFileSync(join(other.folder, 'dist/client', path), 'utf8'))
      .join('');
  expect(read('root')).toContain('.flex');
  expect(read('root')).not.toContain('.text-water');
  expect(read('home')).toMatch(/\.home_\w+_head\{color:green\}/);
  other.remove();
}, 120_000);
