import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as esbuild } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));
const app = join(root, 'bench/app');

/** What an app has besides its product. */
const UPSTREAM = ['bin', 'build', 'src', 'build.mjs', 'moves.json', 'package.json', 'package-lock.json'];

/**
 * Copies the files of this checkout, with the small app of `bench/app` as the product. The folder has its own cache, so
 * that its first build is like the one after `npm ci`.
 *
 * @param {string} folder must not exist
 */
export function makeApp(folder) {
  const upstream = [...UPSTREAM, ...readdirSync(root).filter((name) => /^tsconfig\..*json$/.test(name))];
  for (const path of upstream.filter((name) => existsSync(join(root, name)))) {
    cpSync(join(root, path), join(folder, path), { recursive: true, filter: (from) => !isProduct(from) });
  }
  cpSync(app, folder, { recursive: true });
  mkdirSync(join(folder, 'src/client/public'), { recursive: true });
  mkdirSync(join(folder, 'node_modules'));
  for (const { name } of readdirSync(join(root, 'node_modules'), { withFileTypes: true }).filter(isPackage)) {
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name), 'junction');
  }
}

const isPackage = (entry) => !entry.isFile() && entry.name !== '.cache';

function isProduct(path) {
  return /^src[\\/](?:\w+[\\/]product|client[\\/]public)(?:[\\/]|$)/.test(relative(root, path));
}

/** Bundles bare Node and plain Express, and returns their files. */
export async function buildPlainSides(folder) {
  const outputs = {};
  for (const [name, sendsData] of [
    ['bare', false],
    ['express', true],
  ]) {
    outputs[name] = join(folder, 'dist-plain', `${name}.mjs`);
    await esbuild({
      ...plainOptions(folder),
      entryPoints: [join(folder, 'plain', `${name}.tsx`)],
      outfile: outputs[name],
      platform: 'node',
      define: { 'process.env.NODE_ENV': '"production"', SENDS_DATA: String(sendsData) },
      banner: { js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);" },
    });
  }
  return outputs;
}

/** Returns the script with which plain Express would hydrate the page of cards: React, and nothing else. */
export async function bundlePlainScript(folder) {
  const contents = `import { hydrateRoot } from 'react-dom/client';
    import { Document } from './src/shared/product/document.tsx';
    import Cards from './src/shared/product/pages/cards.tsx';
    import { Frame } from './src/shared/product/pages/frame.tsx';
    const { frame, data } = window.data;
    hydrateRoot(document, <Document lang="en" head={null}><Frame data={frame}><Cards data={data} /></Frame></Document>);`;
  const { outputFiles } = await esbuild({
    ...plainOptions(folder),
    stdin: { contents, resolveDir: folder, loader: 'tsx' },
    outdir: join(folder, 'dist-plain'),
    platform: 'browser',
    minify: true,
    write: false,
    define: { 'process.env.NODE_ENV': '"production"', SENDS_DATA: 'true' },
  });
  return outputFiles.find(({ path }) => path.endsWith('.js')).contents;
}

function plainOptions(folder) {
  return {
    bundle: true,
    format: /** @type {const} */ ('esm'),
    jsx: /** @type {const} */ ('automatic'),
    conditions: ['production'],
    tsconfigRaw: {}, // drops imports of links, which are gone
    alias: { '#engine': join(folder, 'plain/engine.tsx') },
    loader: { '.module.css': /** @type {const} */ ('local-css') },
    plugins: [plainLinks],
  };
}

/** Writes links as the anchors that Spillway renders, so that the other sides do not pay for a component. */
const plainLinks = {
  name: 'plain-links',
  setup(build) {
    build.onLoad({ filter: /[\\/]pages[\\/][\w-]+\.tsx$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8')
        .replace(/<(?:Nav)?Link\b/g, '<a data-link="intent"')
        .replace(/<\/(?:Nav)?Link>/g, '</a>')
        .replace(/(<a data-link="intent"[^>]*?)\bto=/g, '$1href='),
      loader: 'tsx',
      resolveDir: dirname(path),
    }));
  },
};

/** Adds a page with 300 components, each in a module, to measure development. */
export function addParts(folder) {
  const pages = join(folder, 'src/shared/product/pages');
  const numbers = Array.from({ length: 300 }, (_, index) => index);
  mkdirSync(join(pages, 'parts'));
  for (const number of numbers) writeFileSync(join(pages, `parts/part-${number}.tsx`), toPart(number, 'first'));
  const imports = numbers.map((number) => `import { Part${number} } from './parts/part-${number}.tsx';`);
  writeFileSync(
    join(pages, 'parts.tsx'),
    `${imports.join('\n')}
import { useData } from '#engine';
export default function Parts() {
  const { text } = useData<{ text: string }>();
  return <><p id="loader">{text}</p>${numbers.map((number) => `<Part${number} />`).join('')}</>;
}
`,
  );
  insert(
    join(folder, 'src/shared/product/routes.tsx'),
    "{ id: 'cards'",
    "{ id: 'parts', path: '/parts', page: () => import('./pages/parts.tsx') },",
  );
  insert(join(folder, 'src/server/product/pages.ts'), 'root:', 'parts,');
  insert(join(folder, 'src/server/product/pages.ts'), 'const searchOf', "import { parts } from './parts.ts';");
  writeFileSync(join(folder, 'src/server/product/parts.ts'), toLoader('first'));
}

export function toPart(number, text) {
  return `import { useState } from 'react';
export function Part${number}() {
  const [isOpen, setOpen] = useState(false);
  return <p id="part-${number}"><button type="button" onClick={() => setOpen(!isOpen)}>${text}</button></p>;
}
`;
}

export function toLoader(text) {
  return `export const parts = { loader: () => ({ text: '${text}' }) };\n`;
}

export function insert(file, before, text) {
  const source = readFileSync(file, 'utf8');
  if (!source.includes(before)) throw new Error(`${file} does not contain "${before}".`);
  writeFileSync(
    file,
    source.replace(before, () => `${text}\n${before}`),
  );
}
