import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { browserTarget } from './build/bundles.mjs';
import { excerptsForVite } from './build/excerpts.mjs';
import { inlineScriptsForVite } from './build/inline-script.mjs';
import { closingLine } from './tests/support/closing-line.ts';

const root = fileURLToPath(new URL('.', import.meta.url));
const routerModules = new URL('./node_modules/react-router/dist/development/lib/', import.meta.url);
const toPath = (file: string) => fileURLToPath(new URL(file, routerModules));

export default defineConfig({
  plugins: [excerptsForVite(root), inlineScriptsForVite(root, browserTarget)],
  resolve: {
    // The names that build/react-router.mjs gives to React Router's own modules.
    alias: {
      'spillway:router': toPath('router/router.js'),
      'spillway:history': toPath('router/history.js'),
      'spillway:router-contexts': toPath('context.js'),
    },
  },
  test: {
    environment: 'node',
    globalSetup: ['tests/support/build-once.ts'],
    reporters: ['default', closingLine()],
    // One more than the cores of a small machine: tests wait for processes and browsers as much as they compute.
    maxWorkers: 3,
    // A shared machine may have a tenth of its time for us; what hangs is seen soon enough.
    testTimeout: 45_000,
    hookTimeout: 90_000,
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['tests/**/*.test.{ts,tsx}'],
          exclude: ['tests/e2e/**', 'tests/bin/product/**'],
          sequence: { groupOrder: 0 },
        },
      },
      {
        // What shares two cores with a browser, or with tests in a copy: after the rest, and with more patience.
        extends: true,
        test: {
          name: 'e2e',
          include: ['tests/e2e/**/*.test.{ts,tsx}', 'tests/bin/product/**/*.test.ts'],
          testTimeout: 90_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
