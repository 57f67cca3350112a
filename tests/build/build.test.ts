import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { hasCurrentBuild, toStamp } from '../../build/stamp.mjs';
import { build, stopBuilder } from '../../build.mjs';
import type { AssetManifest } from '../../src/shared/wire/manifest.ts';
import { createFolder } from '../support/folder.ts';
import { writeFiles } from './write-files.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const quiet = { log: () => undefined };

/** A product of two pages in a layout, which is enough for the build. */
const app = {
  'src/shared/product/routes.tsx': `
    export const routes = [{ id: 'layout', page: () => import('./pages/layout.tsx'), children: [
      { id: 'home', path: '/', page: () => import('./pages/home.tsx') },
      { id: 'plain', path: '/plain', page: () => import('./pages/plain.tsx') },
    ] }];`,
  'src/shared/product/pages/layout.tsx': `
    import './base.css';
    import { Button } from '../ui/button.tsx';
    import styles from './layout.module.css';
    import { Outlet } from 'react-router';
    export default () => <div className={styles.layout}><Button /><Outlet /></div>;`,
  'src/shared/product/pages/base.css': 'body { margin: 0 }',
  'src/shared/product/pages/layout.module.css': '.layout { color: red; background: url(./dot.svg) }',
  'src/shared/product/pages/dot.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'src/shared/product/pages/home.tsx': `
    import { Button } from '../ui/button.tsx';
    import { useFetcher } from 'react-router';
    import styles from './home.module.css';
    export const name = styles.home;
    export default () => <main className={styles.home} title={useFetcher().state}><Button /></main>;`,
  'src/shared/product/pages/home.module.css': '.home { color: green }',
  'src/shared/product/pages/plain.tsx': `
    import '../document.css';
    export default () => <main>plain</main>;`,
  'src/shared/product/document.css': 'html { color: black }',
  'src/shared/product/ui/button.tsx': `
    import styles from './button.module.css';
    export const Button = () => <button className={styles.button} type="button" />;`,
  'src/shared/product/ui/button.module.css': '.button { color: blue }',
  'src/client/main.tsx': `
    import '../shared/product/document.css';
    import { hydrate } from './hydrate.tsx';
    import { routes } from '../shared/product/routes.tsx';
    hydrate(routes);`,
  'src/client/hydrate.tsx': `
    import { hydrateRoot } from 'react-dom/client';
    import { RouterProvider } from 'react-router';
    const load = () => import('./late.ts');
    export function hydrate(router) {
      hydrateRoot(document, <RouterProvider router={router} />, { onRecoverableError: load });
      if (process.env.SPILLWAY_DEV === '1') new EventSource('/_dev');
    }`,
  'src/client/late.ts': `
    import { createBrowserHistory } from 'spillway:history';
    import { createRouter } from 'spillway:router';
    export const start = (routes) => createRouter({ history: createBrowserHistory(), routes });`,
  'src/client/public/robots.txt': 'User-agent: *',
  'src/server/main.ts': `
    import { createElement } from 'react';
    import { renderToPipeableStream } from 'react-dom/server';
    import { routes } from '../shared/product/routes.tsx';
    const { default: Home, name } = await routes[0].children[0].page();
    const { part } = await import('./reports/sentry/sentry.ts');
    console.log(name, typeof renderToPipeableStream, process.env.NODE_ENV, typeof createElement(Home), part);`,
  'src/server/reports/sentry/sentry.ts': `export const part = 'a part of its own';`,
  'src/server/mail/send-mail.ts': '',
  'src/server/start/health-check.ts': '',
};

Object.assign(app, {
  'src/desk/server/worker/main.ts': '',
  'src/desk/server/command.ts': `console.log('the command');`,
  'src/desk/shared/routes.tsx': `
    export const routes = [{ id: 'home', path: '/desk', page: () => import('./pages/home.tsx') }];`,
  'src/desk/shared/pages/home.tsx': `
    import styles from './home.module.css';
    import '../../../shared/product/pages/base.css';
    export default () => <main className={styles.home}>the desk</main>;`,
  'src/desk/shared/pages/home.module.css': '.home { color: gray }',
  'src/desk/client/main.tsx': `
    import { hydrate } from '../../client/hydrate.tsx';
    import { routes } from '../shared/routes.tsx';
    hydrate(routes);`,
});

function createApp(files: Record<string, string> = {}): string {
  const root = join(createFolder(afterAll), 'Jürgen B'); // a folder can have any name
  writeFiles(root, { ...app, ...files });
  symlinkSync(join(project, 'node_modules'), join(root, 'node_modules'));
  return root;
}

const listFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
const readManifest = (root: string): AssetManifest =>
  JSON.parse(readFileSync(join(root, 'dist/manifest.json'), 'utf8'));
const readAsset = (root: string, url: string | undefined) => readFileSync(join(root, 'dist/client', url ?? ''), 'utf8');

const built = createApp();
await build({ root: built, ...quiet });
const manifest = readManifest(built);
const clientFiles = listFiles(join(built, 'dist/client'));

afterAll(stopBuilder);

describe('the client bundle', () => {
  it('has a debug id in each script, its map and the manifest, as the bundle of the server', () => {
    const read = (path: string) => readFileSync(join(built, 'dist', path), 'utf8');
    for (const file of [`client${manifest.entry.script}`, 'server/site.js']) {
      const id = manifest.debugIds?.[file];
      expect(read(file)).toMatch(new RegExp(`\\n//# debugId=${id}\\n$`));
      expect(JSON.parse(read(`maps/${file}.map`))).toMatchObject({ debugId: id, debug_id: id });
    }
  });

  it('packs source maps with the texts of the app only', () => {
    const packed = readFileSync(join(built, 'dist/maps/server/site.js.map.zst'));
    const { sources, sourcesContent } = JSON.parse(zstdDecompressSync(packed).toString());
    const kept = sources.filter((_: string, index: number) => sourcesContent[index] !== null);
    expect(kept).toContainEqual(expect.stringMatching(/src\/server\/main\.ts$/));
    expect(sources.length).toBeGreaterThan(kept.length);
    expect(kept.filter((source: string) => source.includes('node_modules/'))).toEqual([]);
  });

  it('is precompressed if that is smaller, and decompresses to the same bytes', () => {
    const decoders = { '.br': brotliDecompressSync, '.gz': gunzipSync, '.zst': zstdDecompressSync };
    for (const [extension, decode] of Object.entries(decoders)) {
      const file = join(built, 'dist/client', manifest.entry.preloads[0] ?? '');
      expect(decode(readFileSync(file + extension)).equals(readFileSync(file))).toBe(true);
      expect(clientFiles).not.toContain(`robots.txt${extension}`);
    }
    expect(clientFiles).toContain('robots.txt');
  });
});

describe('style sheets', () => {
  it('have the same class names as the pages, in both bundles', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(built, 'dist/server/main.js')]);
    const [name, renders, mode] = stdout.trim().split(' ');
    expect([renders, mode]).toEqual(['function', 'production']);
    const sheets = (manifest.routes.home?.styles ?? []).map((url) => readAsset(built, url)).join('');
    expect(sheets).toContain(`.${name}{`);
    expect(readAsset(built, manifest.routes.home?.script)).toContain(name);
  });

  it('are in the order of imports, with shared ones once and before sheets that can override them', () => {
    const textOf = (id: string) => (manifest.routes[id]?.styles ?? []).map((url) => readAsset(built, url)).join('');
    expect(textOf('layout')).toMatch(/^body\{.*\.button_\w+_button\{.*\.layout_\w+_layout\{/s);
    expect(textOf('home')).toMatch(/^\.button_\w+_button\{.*\.home_\w+_home\{/s);
    // Style sheets of the entry are on every page.
    expect(manifest.entry.styles.map((url) => readAsset(built, url)).join('')).toMatch(/^html\{/);
    expect(textOf('plain')).toBe('');
    const shared = manifest.routes.layout?.styles.filter((url) => manifest.routes.home?.styles.includes(url));
    expect(shared).toHaveLength(1);
  });

  const formats = ['avif', 'gif', 'jpeg', 'jpg', 'png', 'svg', 'webp', 'eot', 'otf', 'ttf', 'woff', 'woff2'];
  it('can refer to images, fonts, other sites and packages, and scripts and the route table use the aliases of the product', async () => {
    const root = createApp({
      'src/shared/product/pages/base.css': `.public { --url: url('/robots.txt') } ${formats.map((it) => `.${it} { --url: url('./a.${it}?v=1#${it}') }`).join('')}`,
      ...Object.fromEntries(formats.map((it) => [`src/shared/product/pages/a.${it}`, it])),
      'src/server/product/build.mjs':
        "export default { alias: { '@button': './src/shared/product/ui/button.tsx', '@dot': './src/shared/product/pages/dot.svg' } };",
      'src/shared/product/routes.tsx': `import dot from '@dot';${app['src/shared/product/routes.tsx']} export const icon = dot;`,
      'src/shared/product/pages/plain.tsx':
        "import './one.css'; import './two.css'; import { Button } from '@button'; export default () => <Button />;",
      'src/shared/product/pages/one.css': "@import 'kit'; .one { color: red }",
      'src/shared/product/pages/two.css':
        "@import url('https://fonts.example/css?weight=400;700'); .two { color: red }",
      '../node_modules/kit/package.json': '{ "exports": { ".": { "style": "./kit.css", "default": "./kit.js" } } }',
      '../node_modules/kit/kit.css': '.kit { color: red }',
      '../node_modules/kit/kit.js': 'export default 1;',
    });
    await build({ root, ...quiet });
    const plain = readManifest(root)
      .routes.plain?.styles.map((url) => readAsset(root, url))
      .join('');
    // Browsers ignore an import after a rule.
    expect(plain).toMatch(
      /^@import"https:\/\/fonts\.example\/css\?weight=400;700";\s*\.kit\{color:red\}\s*\.one\{.*\.two\{.*\.button_/s,
    );
    const css = readManifest(root).routes.layout?.styles.map((url) => readAsset(root, url)) ?? [];
    expect(css.join('')).toMatch(/url\("?\/robots\.txt"?\)/);
    const urls = [...css.join('').matchAll(/url\("?(\/assets\/a-\w{8}\.(\w+))\?v=1#\2/g)];
    expect(urls.map(([, url]) => readAsset(root, url))).toEqual(formats);
  });
});

describe('a build', () => {
  it('produces the same bytes in another folder', async () => {
    const other = createApp();
    await build({ root: other, ...quiet });
    const outputs = listFiles(join(built, 'dist'));
    expect(listFiles(join(other, 'dist'))).toEqual(outputs);
    // Here node_modules is a link to another folder, so only files that depend on this folder are compared.
    expect(readManifest(other)).toEqual(manifest);
    for (const path of outputs.filter((name) => name.startsWith('client/'))) {
      expect(readFileSync(join(other, 'dist', path)).equals(readFileSync(join(built, 'dist', path))), path).toBe(true);
    }
  });

  it.each([
    ['a source changes', 'src/shared/product/pages/plain.tsx', 'export default () => <main>new</main>;'],
    ['only the text of a file differs, not its size', 'src/client/public/robots.txt', 'User-agent: ?'],
    [
      'a path alias changes',
      'tsconfig.json',
      '{ "compilerOptions": { "paths": { "#ui/*": ["./src/shared/product/ui/*"] } } }',
    ],
    ['a package is patched', 'patches/react+19.3.1.patch', '-a\n+b'],
    ['another commit is checked out', '.git/HEAD', '0123456789abcdef0123456789abcdef01234567'],
  ])('is current until %s, regardless of timestamps', (_, path, text) => {
    const root = createApp();
    cpSync(join(built, 'dist'), join(root, 'dist'), { recursive: true });
    expect(hasCurrentBuild(root)).toBe(true);
    writeFiles(root, { [path]: text });
    expect(hasCurrentBuild(root)).toBe(false);
  });

  it('is not current after a change of a file outside of src that it read', async () => {
    const root = createApp({
      'words.ts': "export const words = 'old';",
      'src/shared/product/pages/plain.tsx':
        "import { words } from '../../../../words.ts'; export default () => <main>{words}</main>;",
    });
    await build({ root, ...quiet });
    expect(hasCurrentBuild(root)).toBe(true);
    writeFiles(root, { 'words.ts': "export const words = 'new';" });
    expect(hasCurrentBuild(root)).toBe(false);
  });

  it('is not current after a change in a package of the workspace', () => {
    const workspace = createFolder(onTestFinished);
    const write = (path: string, text: string) => writeFiles(workspace, { [path]: text });
    for (const [user, name] of [
      ['app', 'ui'],
      ['ui', 'units'],
    ] as const) {
      write(`${user}/package.json`, JSON.stringify({ dependencies: { [name]: '1' } }));
      write(`${name}/index.js`, '');
      mkdirSync(join(workspace, user, 'node_modules'));
      symlinkSync(join(workspace, name), join(workspace, user, 'node_modules', name));
    }
    write('units/package.json', '{}');
    const root = join(workspace, 'app');
    const before = toStamp(root);
    write('ui/node_modules/.log', 'of a tool');
    expect(toStamp(root)).toBe(before);
    write('units/index.js', 'changed');
    expect(toStamp(root)).not.toBe(before);
  });

  it('has another id if a page changed, and keeps the assets of the previous build', async () => {
    const root = createApp({ 'src/shared/product/pages/plain.tsx': 'export default () => <main>new</main>;' });
    cpSync(join(built, 'dist'), join(root, 'dist'), { recursive: true });
    const older = join(root, 'dist/client/assets/older.js');
    writeFileSync(older, '');
    const weekAgo = Date.now() / 1000 - 7 * 86_400;
    for (const path of listFiles(join(root, 'dist'))) utimesSync(join(root, 'dist', path), weekAgo, weekAgo);
    utimesSync(older, weekAgo - 86_400, weekAgo - 86_400);
    await build({ root, ...quiet });
    expect(existsSync(older)).toBe(false);
    const { buildId, routes } = readManifest(root);
    expect(buildId).not.toBe(manifest.buildId);
    expect(routes.plain?.script).not.toBe(manifest.routes.plain?.script);
    expect(readAsset(root, manifest.routes.plain?.script)).toContain('plain');
  });
});

it('warns of the product once, with the place, and of packages only what a build leaves out', async () => {
  const root = createApp({
    '../node_modules/odd/package.json': '{ "type": "module", "main": "main.js" }',
    '../node_modules/odd/main.js': 'export const odd = import.meta.env?.MODE ?? import.meta.env.MODE;',
    '../node_modules/odd/odd.css': '.odd } {}',
    '../node_modules/pdf/package.json': '{ "type": "module", "main": "main.js" }',
    '../node_modules/pdf/main.js': `
      // As in new Worker(new URL('./other.js', import.meta.url)).
      export const start = () => new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });`,
    'src/shared/product/pages/home.module.css': '.home {\n  color green }',
    'src/shared/product/pages/base.css': 'body } {}',
    'src/shared/product/pages/plain.tsx': `
      import 'odd/odd.css';
      import { odd } from 'odd';
      import { start } from 'pdf';
      const pages = Object.keys(import.meta.glob('./*.md'));
      const title = typeof window === 'undefind' ? '' : import.meta.env.VITE_TITLE;
      export default () => <i onClick={start} title={title}>{pages}{odd}{import.meta.env?.MODE}</i>;
      import { z } from 'zod';
      export { small } from './small.ts';
      export const schema = z.string();`,
    'src/shared/product/pages/small.ts': "import * as z from 'zod'; export const small = z.int();",
  });
  const lines: string[] = [];
  await build({ root, log: (line) => lines.push(line) });
  const ofEsbuild = lines.map((line) => /WARNING\] (.+)\s+(\S+): *\n/.exec(line)?.slice(1)).filter(Boolean);
  expect(ofEsbuild.sort()).toEqual([
    ['Expected ":"', 'src/shared/product/pages/home.module.css:2:7'],
    ['The "typeof" operator will never evaluate to "undefind"', 'src/shared/product/pages/plain.tsx:6:38'],
    ['Unexpected "}"', 'src/shared/product/pages/base.css:1:5'],
  ]);
  const ownWords = /^warning: (\S+ (?:looks for|uses|adds) [^\s,]+)/;
  expect(lines.flatMap((line) => ownWords.exec(line)?.[1] ?? []).sort()).toEqual([
    // In the bundles of the server and of the browser.
    ...Array(2).fill('../node_modules/pdf/main.js:3 looks for ./worker.js'),
    'src/shared/product/pages/plain.tsx:5 uses import.meta.glob',
    'src/shared/product/pages/plain.tsx:6 uses import.meta.env',
    'src/shared/product/pages/plain.tsx:8 adds all',
  ]);
});

it('builds a page that a plugin compiles, and that imports names of an index', async () => {
  const root = createApp({
    'src/server/product/build.mjs': `
      import { readFileSync } from 'node:fs';
      const pages = { name: 'pages', setup: ({ onLoad }) =>
        onLoad({ filter: /\\.page$/ }, ({ path }) => ({ contents: readFileSync(path, 'utf8'), loader: 'jsx' })) };
      export default { plugins: [pages] };`,
    'src/shared/product/pages/plain.page': `
      import { useFetcher } from 'react-router';
      export default () => <i>{useFetcher().state}</i>;`,
    'src/shared/product/pages/plain.tsx': "export { default } from './plain.page';",
  });
  const lines: string[] = [];
  await build({ root, log: (line) => lines.push(line) });
  expect(lines[0]).toMatch(/^Built /);
});

it.each(['?react', '?worker', '?url'])('refuses a suffix that no plugin loads: %s', async (suffix) => {
  const root = createApp({
    'src/server/product/build.mjs': `
      const raw = { name: 'raw', setup: ({ onLoad }) =>
        onLoad({ filter: /./ }, ({ suffix }) => (suffix === '?raw' ? { contents: 'text', loader: 'text' } : undefined)) };
      export default { plugins: [raw] };`,
    'src/shared/product/pages/data.json': '{}',
    'src/shared/product/pages/plain.tsx': `
      import url from './dot.svg?url';
      import 'https://other.example/script.js?module';
      import text from './data.json?raw';
      import file from './data.json${suffix}';
      export default () => <i>{url}{text}{file}</i>;`,
  });
  const said = await build({ root, ...quiet }).catch(({ message }) => message);
  expect(said.match(/No plugin loads \S+/g)).toEqual([`No plugin loads data.json${suffix}.`]);
  expect(said).toContain('src/shared/product/pages/plain.tsx:5:23');
});

it('leaves packages with native code, and those that the product names, out of the bundle of the server', async () => {
  const root = createApp({
    '../node_modules/@acme/native/package.json': '{ "main": "main.js" }',
    '../node_modules/@acme/native/binding.gyp': '{}',
    '../node_modules/@acme/native/main.js': 'module.exports = __dirname;',
    '../node_modules/of-rust/package.json': '{ "main": "main.js" }',
    '../node_modules/of-rust/of-rust.linux-x64-gnu.node': '',
    '../node_modules/of-rust/main.js': 'module.exports = __dirname;',
    '../node_modules/reads-files/package.json': '{ "main": "main.js" }',
    '../node_modules/reads-files/main.js': 'module.exports = __dirname;',
    'src/server/product/build.mjs': "export default { external: ['reads-files'] };",
    'src/server/main.ts':
      "import one from '@acme/native'; import two from 'of-rust'; import other from 'reads-files'; console.log(one, two, other);",
  });
  await build({ root, ...quiet });
  const { entry, buildId } = readManifest(root);
  expect([entry, buildId === manifest.buildId]).toEqual([manifest.entry, false]); // only code of the server changed
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'dist/server/main.js')]);
  expect(stdout).toMatch(/node_modules\/@acme\/native .+node_modules\/of-rust .+node_modules\/reads-files/);
  expect(JSON.parse(readFileSync(join(root, 'dist/packages.json'), 'utf8')).loaded).toEqual([
    '@acme/native',
    'of-rust',
    'reads-files',
  ]);
});

describe('a build fails with one sentence and keeps the previous build', () => {
  it.each<[string, Record<string, string>, RegExp]>([
    [
      'if the client imports a file of the server',
      {
        'src/server/secret.ts':
          "import { HttpError } from '#engine/server'; import { readFileSync } from 'node:fs'; export const secret = [readFileSync('x'), HttpError];",
        'src/server/index.ts': "export { HttpError } from './http-error.ts';",
        'src/server/http-error.ts': 'export class HttpError extends Error {}',
        'src/shared/product/pages/plain.tsx':
          "import { secret } from '../../../server/secret.ts'; export default () => <main>{String(secret)}</main>;",
      },
      /The import of src\/server\/secret\.ts would send server code to the browser\.[\s\S]*plain\.tsx:1:/,
    ],
    [
      'if a page looks for a file beside itself',
      {
        'src/shared/product/pages/plain.tsx':
          "export default () => <i title={new URL('./sum.wasm', import.meta.url).href} />;",
      },
      /^src\/shared\/product\/pages\/plain\.tsx:1 looks for \.\/sum\.wasm/,
    ],
    [
      'if the file of a page cannot be read from the route table',
      {
        'src/shared/product/routes.tsx':
          "const load = () => import('./pages/home.tsx'); export const routes = [{ id: 'home', page: () => load() }];",
      },
      /^The route "home" in src\/shared\/product\/routes\.tsx .* Write it as/,
    ],
    [
      'if two routes have the same id',
      {
        'src/shared/product/routes.tsx':
          "export const routes = [{ id: 'a', page: () => import('./pages/home.tsx') }, { id: 'a', page: () => import('./pages/plain.tsx') }];",
      },
      /^Two routes have the id "a"/,
    ],
    [
      'if a page exports no component',
      { 'src/shared/product/pages/plain.tsx': 'export const Plain = () => <main>plain</main>;' },
      /^The page "\w+" \(src\/shared\/product\/pages\/plain\.tsx\) does not export a component as its default\.$/,
    ],
    [
      'if no plugin loads a file',
      {
        'src/shared/product/pages/plain.tsx': "import it from './plain.module.scss'; export default () => it.plain;",
        'src/shared/product/pages/plain.module.scss': '.plain { color: red }',
      },
      /"\.scss" files: src\/shared\/product\/pages\/plain\.module\.scss[\s\S]*src\/server\/product\/build\.mjs/,
    ],
    [
      'if a style sheet refers to a file that does not exist',
      { 'src/shared/product/pages/home.module.css': '.home { background: url(none.png) }' },
      /src\/shared\/product\/pages\/home\.module\.css:1:\d+:/,
    ],
    [
      'if a package does not find an optional one',
      {
        '../node_modules/has-drivers/main.js': "exports.open = () => require('no-driver');",
        '../node_modules/has-drivers/package.json': '{ "main": "main.js" }',
        'src/server/mail/send-mail.ts': "import { open } from 'has-drivers'; open();",
      },
      /add 'has-drivers' to `external` in src\/server\/product\/build\.mjs\.$/,
    ],
  ])('%s', async (_, files, sentence) => {
    const root = createApp(files);
    mkdirSync(join(root, 'dist'));
    writeFileSync(join(root, 'dist/manifest.json'), 'of the earlier build');
    await expect(build({ root, ...quiet })).rejects.toThrow(sentence);
    expect(readFileSync(join(root, 'dist/manifest.json'), 'utf8')).toBe('of the earlier build');
  });
});
