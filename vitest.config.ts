import './tests/support/environment.ts'; // first
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { browserTarget } from './build/bundles.mjs';
import { readExcerpt } from './build/excerpts.mjs';
import { bundleScript } from './build/inline-script.mjs';
import { findPackage } from './build/packages.mjs';
import { report } from './tests/support/report.ts';

const root = fileURLToPath(new URL('.', import.meta.url));
if (/[#%?]/.test(root))
  throw new Error(`Vitest loads no tests from ${root}, because the path has a #, % or ?. Rename that folder.`);
const routerModules = join(findPackage('react-router', root) ?? '', 'dist/development/lib');

/** Tests that start servers, databases, builds or compilers. */
const PROCESS = ['tests/**/*.process.test.{ts,tsx}', 'tests/{,desk/}{bin,build}/**/*.test.ts'];
const DOCS = ['tests/{,desk/}{container,guide,proxies,recipes}/**/*.test.ts'];
const BROWSER = ['tests/{,desk/,desk/product/}e2e/**/*.test.{ts,tsx}'];
const SOAK = 'tests/**/*.{soak,clone}.test.ts';
/** Packages that only recipes need are below `tests`. */
const PACKAGES = '**/node_modules/**';

/** Modules that the build makes for imports with a prefix. Vite's own plugins do not know the ending. */
function importsOf(prefix: string, read: (path: string) => Promise<unknown>) {
  const [start, ending] = [`\0${prefix}`, '.made'];
  return {
    name: prefix,
    enforce: 'pre' as const,
    resolveId: (id: string) => (id.startsWith(prefix) ? `\0${id}${ending}` : undefined),
    load: async (id: string) =>
      id.startsWith(start)
        ? `export default ${JSON.stringify(await read(id.slice(start.length, -ending.length)))};`
        : undefined,
  };
}

export default defineConfig({
  envDir: false, // `.env` is for servers.
  plugins: [
    importsOf('excerpt:', (request) => readExcerpt(root, request)),
    importsOf('inline:', async (file) => (await bundleScript(root, file, browserTarget)).text),
  ],
  resolve: {
    // The names that build/react-router.mjs gives to React Router's internal modules.
    alias: {
      'spillway:router': join(routerModules, 'router/router.js'),
      'spillway:history': join(routerModules, 'router/history.js'),
      'spillway:router-contexts': join(routerModules, 'context.js'),
    },
  },
  test: {
    environment: 'node',
    reporters: ['default', report()],
    // Twice the cores of a small machine, because tests also wait for processes and browsers.
    maxWorkers: 4,
    // A shared machine can be ten times slower. Tests that hang still fail soon enough.
    testTimeout: 45_000,
    hookTimeout: 90_000,
    expect: { poll: { timeout: 30_000 } },
    setupFiles: ['tests/support/production-react.ts', 'tests/support/same-seed.ts'],
    // Test files share a worker process, so most of the engine is loaded only once per worker. Vitest ends a worker before
    // a file of another project, and sorts files by project first.
    isolate: false,
    retry: 0,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          globalSetup: ['tests/support/temporary-files.ts'],
          include: ['tests/**/*.test.{ts,tsx}'],
          exclude: [...PROCESS, ...DOCS, ...BROWSER, SOAK, PACKAGES],
        },
      },
      {
        extends: true,
        test: {
          name: 'process',
          include: PROCESS,
          exclude: [SOAK, PACKAGES],
          globalSetup: ['tests/support/temporary-files.ts', 'tests/support/set-up.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: BROWSER,
          exclude: [SOAK, PACKAGES],
          globalSetup: ['tests/support/temporary-files.ts', 'tests/support/set-up.ts'],
          // Many build an app, or wait for several builds of `npm run dev`.
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
      {
        // What the docs say: the guide, the recipes, the configurations of proxies, and the image. `npm run test:docs`
        extends: true,
        test: {
          name: 'docs',
          include: DOCS,
          exclude: [SOAK, PACKAGES],
          globalSetup: [
            'tests/support/temporary-files.ts',
            'tests/support/set-up.ts',
            'tests/support/recipe-packages.ts',
          ],
          testTimeout: 90_000,
          hookTimeout: 240_000, // Almost each file builds an app.
        },
      },
      {
        // Tests that need much time or memory: `npm run test:soak`. Those of commands that change a whole clone, in copies
        // of it: `npm run test:clones`.
        extends: true,
        test: {
          name: 'soak',
          include: [SOAK],
          exclude: [PACKAGES],
          globalSetup: ['tests/support/set-up.ts'], // files on the disk, because clones are large
          testTimeout: 300_000,
          maxWorkers: 1,
          sequence: { groupOrder: 1 }, // after all others, because it has another `maxWorkers`
        },
      },
    ],
  },
});
