import { afterAll, beforeAll, expect, it } from 'vitest';
import { changeFirstThings, createNewApp, HALF, OPERATIONS } from '../bin/new-app.ts';
import { runScript, VITEST } from '../recipes/recipe.ts';
import type { OwnedApp } from '../support/owned-app.ts';

const TABLE = 'src/server/product/pages/index.ts';

let app: OwnedApp;
beforeAll(() => {
  app = createNewApp();
});
afterAll(() => app.remove());

async function runTests(): Promise<string> {
  const args = ['run', '--project', 'unit', 'tests/server/product/pages', 'tests/server/product/api'];
  const { stdout, stderr } = await runScript(app.folder, VITEST, args);
  return stdout + stderr;
}

it('the tests that `npm run new` writes pass, also after the first changes', async () => {
  expect(await runTests()).toMatch(/^8 passed, 0 failed$/m);
  changeFirstThings(app);
  expect(await runTests()).toMatch(/^8 passed, 0 failed$/m);
}, 120_000);

it('the tests that `npm run new` writes pass if the root layout reads a service', async () => {
  app.write({
    'src/server/product/services.ts': 'export const services = { open: async () => ({ banner: "Closed today" }) };\n',
    'src/server/product/pages/root.ts': `
      import { definePage } from '../context.ts';
      export const root = definePage({ loader: ({ context }) => context.services.banner.length });`,
  });
  const product = 'src/server/product/index.ts';
  app.replace(product, '  settings,', '  settings,\n  services,');
  app.replace(product, 'import { settings }', "import { services } from './services.ts';\nimport { settings }");
  app.replace(TABLE, 'root: null', 'root');
  app.replace(TABLE, 'import', "import { root } from './root.ts';\nimport");
  expect(await runTests()).toMatch(/^8 passed, 0 failed$/m);
}, 120_000);

it('the tests that `npm run new` writes say what to do when they fail', async () => {
  // A field that the test of the resource does not send, and a page that is not found.
  app.replace(OPERATIONS, '    name:', '    river: z.string(),\n    name:');
  app.replace(HALF, 'async () => ({ total: 3 })', 'async () => notFound()');
  app.replace(HALF, 'import', "import { notFound } from '#engine';\nimport");
  const said = await runTests();
  expect(said).toContain('Does /orders/7 exist? If not, visit one that exists');
  expect(said).toMatch(/NewGauge refuses SENT: .*river/);
}, 120_000);
