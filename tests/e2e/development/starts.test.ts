import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { shareBrowser, watch } from '../../support/browser.ts';
import { exchanged } from '../site.ts';
import { type DevApp, PATIENCE, startDevApp } from './dev-app.ts';

const INDEX = 'src/server/product/index.ts';
const PRODUCT = 'src/shared/product';

let app: DevApp;

beforeAll(async () => {
  app = await startDevApp({
    'dist-dev/server/product-OLD.js': '', // as of an earlier run
    'legacy/app.js': "module.exports = require('express')();",
    'legacy/package.json': '{ "type": "commonjs" }',
    'src/server/product/build.mjs': `const own = {
  name: 'own',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /\\.loud\\.tsx$/ }, () => ({ contents: 'export const Loud = () => <i>LOUD</i>;', loader: 'tsx' }));
    onResolve({ filter: /^virtual:/ }, ({ path }) => ({ path, namespace: 'virtual', pluginData: { value: 7 } }));
    onLoad({ filter: /.*/, namespace: 'virtual' }, ({ pluginData }) => ({
      contents: 'export const store = { value: ' + pluginData.value + ' };',
    }));
  },
};
export default { plugins: [own] };
`,
    [INDEX]: `import { defineProduct } from '#engine/server';
import { pages } from './pages/index.ts';
import { settings } from './settings.ts';

const services = { open: async () => undefined };
export const product = defineProduct({ settings, services, pages, existingApp: './legacy/app.js' });
`,
  });
});
afterEach(({ task }) => (task.result?.state === 'fail' ? app.reset() : undefined));
afterAll(() => app?.stop());

/** Sees the page of the last edit. */
async function expectServed(words: string, path = '/'): Promise<void> {
  const read = async () => (await fetch(app.url + path, { signal: AbortSignal.timeout(2000) })).text();
  await expect.poll(() => read().catch(String), { timeout: PATIENCE }).toContain(words);
}

test('the folder of the build is emptied at the start, because each edit adds files', () => {
  expect(app.has('dist-dev/server/product-OLD.js')).toBe(false);
});

test('a public file is served until it is removed, also below .well-known', async () => {
  const path = '.well-known/assetlinks.json';
  const read = async () => (await fetch(`${app.url}/${path}`)).status;
  app.write(`src/client/public/${path}`, '{}');
  await expect.poll(read, { timeout: PATIENCE }).toBe(200);
  await app.reset();
  await expect.poll(read, { timeout: PATIENCE }).toBe(404);
});

test('an existing app that listens does not replace the server, and the output says where it does', async () => {
  const { port } = new URL(app.url);
  const legacy = app.read('legacy/app.js');
  app.write('legacy/app.js', `const app = require('express')();\napp.listen(${port});\nmodule.exports = app;`);
  await expect.poll(app.output, { timeout: PATIENCE }).toContain('The previous one keeps running');
  expect(app.output()).toMatch(/EADDRINUSE.*\n(?:.*\n)*.*legacy\/app\.js:2/);
  await expectServed('from the loader');
  app.write('legacy/app.js', legacy);
});

test('a package finds another loaded, although esbuild drops the module of its names', async () => {
  const facts = '{ "type": "module", "main": "index.js", "sideEffects": false }';
  const modules = {
    'of-parts/index.js': "export * from './part.js';",
    'of-parts/names.js': "export * from './part.js';",
    'of-parts/part.js': 'export const Part = class {};\nexport const make = () => new Part();',
    'a-guest/index.js': `import { make } from 'of-parts/names.js';
export const made = typeof make();
export const later = () => import('of-parts');`,
  };
  for (const [path, text] of Object.entries(modules)) {
    app.write(`../node_modules/${path.split('/')[0]}/package.json`, facts);
    app.write(`../node_modules/${path}`, text);
  }
  app.write(
    'src/server/product/words.ts',
    "import { made } from 'a-guest';\nexport const words = 'made an ' + made;\n",
  );
  await expectServed('made an object');
});

test('a page has the same modules in the browser as on the server: packages, files, sheets, and what plugins load', async () => {
  app.write('../node_modules/of-commonjs/package.json', '{ "main": "main.js" }');
  app.write(
    '../node_modules/of-commonjs/main.js',
    "module.exports = () => 'called'; module.exports.named = 'named'; exports = module.exports; exports.count = 0; exports.next = () => ++exports.count;",
  );
  app.write('../node_modules/of-modules/package.json', '{ "exports": "./main.mjs" }');
  app.write('../node_modules/of-modules/main.mjs', "export { next } from 'of-commonjs'; export default 'by default';");
  app.write(`${PRODUCT}/again.ts`, "export { next } from 'of-modules'; export { store as same } from 'virtual:store';");
  app.write(`${PRODUCT}/pages/data.json`, '{ "name": "value" }');
  app.write(`${PRODUCT}/pages/image.svg`, '<svg/>');
  app.write(`${PRODUCT}/ui/part.loud.tsx`, '');
  app.write(
    `${PRODUCT}/pages/other.tsx`,
    `import called, { named } from 'of-commonjs';
import * as all from 'of-commonjs';
import byDefault from 'of-modules';
import { store } from 'virtual:store';
import { next, same } from '../again.ts';
import { Loud } from '../ui/part.loud.tsx';
import data, { name } from './data.json';
import styles from './home.module.css';
import image from './image.svg';

next();
store.value += 1;
const seen = [called(), named, all.count, all.default === called, byDefault, same.value, data, name, image, styles.title];
export default function Other() {
  return <main title={JSON.stringify(seen)}><Loud /></main>;
}
`,
  );
  await expectServed('LOUD', '/other');
  const page = await (await shareBrowser()).newPage({ baseURL: app.url });
  const { complaints } = await watch(page);
  await page.goto('/other');
  await exchanged(page);
  expect(JSON.parse((await page.locator('main', { hasText: 'LOUD' }).getAttribute('title')) ?? '')).toEqual([
    ...['called', 'named', 1, true, 'by default', 8, { name: 'value' }, 'value'],
    ...[expect.stringMatching(/^\/assets\/image-\w+\.svg$/), expect.stringMatching(/^home_\w+_title$/)],
  ]);
  expect(complaints).toEqual([]); // of a hydration, too
  await page.close();
});

test('`export *` of a package has the names of its CommonJS parts, and a name that the module exports too is there once', async () => {
  app.write('../node_modules/of-parted/package.json', '{ "main": "main.js" }');
  app.write(
    '../node_modules/of-parted/main.js',
    `"use strict";
Object.defineProperty(exports, '__esModule', { value: true });
exports.default = 'not starred';
Object.defineProperty(exports, 'defined', { enumerable: true, get: () => 'defined' });
if (true) { module.exports.assigned = 'assigned'; }
__exportStar(require('./more.js'), exports);
function __exportStar(from, to) { for (const name in from) to[name] = from[name]; }
`,
  );
  app.write('../node_modules/of-parted/more.js', "const made = 'made';\nmodule.exports = { made, 'spelt': 'spelt' };");
  app.write('../node_modules/of-stars/package.json', '{ "type": "module", "exports": "./main.js" }');
  app.write('../node_modules/of-stars/main.js', "export * from './inner.js'; export const own = 'own';");
  app.write('../node_modules/of-stars/inner.js', "export * from 'of-parted';");
  app.write(`${PRODUCT}/starred.ts`, "export * from 'of-stars';\nexport { own } from 'of-stars';\n");
  app.write(`${PRODUCT}/direct.ts`, "export * from 'of-parted';\nexport const made = 'here';\n");
  app.write(
    `${PRODUCT}/pages/other.tsx`,
    `import { assigned, defined, made, own, spelt } from '../starred.ts';
import * as direct from '../direct.ts';

export default function Other() {
  return <main title={[assigned, defined, made, own, spelt, direct.made, direct.spelt].join()}>STARRED</main>;
}
`,
  );
  await expectServed('STARRED', '/other');
  const page = await (await shareBrowser()).newPage({ baseURL: app.url });
  const { complaints } = await watch(page);
  await page.goto('/other');
  await exchanged(page);
  expect(await page.locator('main', { hasText: 'STARRED' }).getAttribute('title')).toBe(
    'assigned,defined,made,own,spelt,here,spelt',
  );
  expect(complaints).toEqual([]);
  await page.close();
});

test('an edit of a file outside of src is built, because the build reads it', async () => {
  app.write('../packages/words/index.ts', "export const words = 'of a package';\n");
  app.write('src/server/product/words.ts', "export { words } from '../../../../packages/words/index.ts';\n");
  await expectServed('of a package');
  app.edit('../packages/words/index.ts', 'of a package', 'after its edit');
  await expectServed('after its edit');
});

test('services that never open are named, and the next change starts another server', async () => {
  app.edit(INDEX, 'async () => undefined', '() => new Promise<undefined>(() => {})');
  await expect.poll(app.output, { timeout: PATIENCE }).toContain("The product's services have not opened for 10 s.");
  app.edit(INDEX, '() => new Promise<undefined>(() => {})', 'async () => undefined');
  app.write('src/server/product/words.ts', "export const words = 'after the fix';\n");
  await expectServed('after the fix');
});

/** Ends the processes of esbuild that this app started, as the system does when it runs out of memory. */
function endService(): void {
  const ids = readdirSync('/proc').filter((id) => /^\d+$/.test(id));
  const isService = (id: string) =>
    readlinkSync(`/proc/${id}/cwd`) === app.folder &&
    readFileSync(`/proc/${id}/cmdline`, 'utf8').includes('--service=');
  for (const id of ids) {
    try {
      if (isService(id)) process.kill(Number(id), 'SIGKILL');
    } catch {
      // It has ended, or belongs to another user.
    }
  }
}

test.runIf(process.platform === 'linux')('edits are built after the process of esbuild has ended', async () => {
  for (const words of ['after its end', 'after its second end']) {
    endService();
    app.write('src/server/product/words.ts', `export const words = '${words}';\n`);
    app.write(`${PRODUCT}/pages/other.tsx`, `export default () => <h1>${words}</h1>;\n`); // for the build of the client
    await expectServed(words);
  }
  expect(app.output()).toContain('The process of esbuild has ended. Starting another one.');
});
