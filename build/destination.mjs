// What the place that failures go to adds to the build. `npm run own -- --without desk` replaces this file.

/**
 * Client apps besides the product's. Each has its own chunks, so that it adds no byte to the product's pages.
 *
 * @type {(import('./apps.mjs').App & { devEntry: string })[]} `devEntry` follows the builds, then imports the entry
 */
export const apps = [
  {
    name: 'desk',
    entry: 'src/client/desk/main.tsx',
    devEntry: 'src/client/desk/develop.ts',
    table: 'src/shared/desk/routes.tsx',
  },
];

/** Bundles of the server, by name. It does not start without them. */
export const parts = { 'desk-worker': 'src/server/desk/worker/main.ts', desk: 'src/server/desk.ts' };

/** Those of them that are commands, which also run without npm, and if the site does not start. */
export const commands = ['desk'];

/** First parts of paths that it uses, also under `/api`. */
export const paths = ['desk'];
