import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { expect, it, onTestFinished } from 'vitest';
import { engineByName } from '../../build/front-doors.mjs';
import { createFolder } from '../support/folder.ts';

const app = {
  'package.json': JSON.stringify({ imports: { '#engine': './src/shared/engine/index.ts' } }),
  'src/shared/engine/index.ts': `
export { Await } from './await.ts';
export { type Data, Link as Anchor } from './link.ts';
`,
  'src/shared/engine/await.ts': "export const Await = 'what only one page uses'; globalThis.awaits = true;",
  'src/shared/engine/link.ts': "export type Data = string; export const Link = 'a link';",
  'src/main.ts': `
import { Anchor, type Data } from '#engine';
console.log(Anchor);
export const pages: (() => Promise<Data>)[] = [() => import('./page.ts'), () => import('./other.ts')];`,
  'src/page.ts': "import { Anchor, Await } from '#engine';\nexport default Await + Anchor;",
  'src/other.ts': "import { Anchor } from '#engine';\nexport default Anchor;",
};

async function bundle(files: Readonly<Record<string, string>>): Promise<Map<string, string>> {
  const root = createFolder(onTestFinished);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['src/main.ts'],
    outdir: 'out',
    bundle: true,
    splitting: true,
    write: false,
    format: 'esm',
    logLevel: 'silent',
    plugins: [engineByName(root)],
  });
  return new Map(outputFiles.map(({ path, text }) => [path.slice(root.length + '/out/'.length), text]));
}

it('keeps code that only a late page uses out of the first load, although the index exports it', async () => {
  const files = await bundle(app);
  const first = [...files].filter(([path]) => !/^(?:page|other)-/.test(path));
  expect(first.map(([, text]) => text).join('\n')).toContain('a link');
  expect(first.filter(([, text]) => text.includes('what only one page uses'))).toEqual([]);
  // There are no chunks that only re-export.
  expect(files.size).toBe(4);
});
