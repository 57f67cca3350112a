import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A client app, with its own entry, route table and chunks.
 *
 * @typedef {object} App
 * @property {string} name also the name of its first script
 * @property {string} entry
 * @property {string} table a file that exports a list named `routes`
 */

/** @type {App} */
export const productApp = { name: 'main', entry: 'src/client/main.tsx', table: 'src/shared/product/routes.tsx' };

/** What `src/desk` adds to a build. */
const desk = {
  /**
   * Client apps besides the product's. Each has its own chunks, so that it adds no byte to the product's pages.
   *
   * @type {(App & { devEntry: string })[]} `devEntry` follows the builds, then imports the entry
   */
  apps: [
    {
      name: 'desk',
      entry: 'src/desk/client/main.tsx',
      devEntry: 'src/desk/client/develop.ts',
      table: 'src/desk/shared/routes.tsx',
    },
  ],
  /** Bundles of the server, by name. It does not start without them. */
  parts: { 'desk-worker': 'src/desk/server/worker/main.ts', desk: 'src/desk/server/command.ts' },
  /** Those of them that are commands, which also run without npm, and if the site does not start. */
  commands: ['desk'],
  /** Modules that a server under `npm run dev` loads ahead of the next edit. */
  loaded: ['src/desk/server/index.ts'],
};

/** @returns {typeof desk} empty without the desk, which an app can delete */
export function findDesk(root) {
  if (existsSync(join(root, 'src/desk'))) return desk;
  return { apps: [], parts: {}, commands: [], loaded: [] };
}
