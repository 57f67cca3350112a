// What the place that failures go to adds to the build. `npm run own -- --without desk` replaces this file.

/**
 * Client apps besides the product's. Each has its own chunks, so that it adds no byte to the product's pages.
 *
 * @type {(import('./apps.mjs').App & { devEntry: string })[]} `devEntry` follows the builds, then imports the entry
 */
export const apps = [
  {
    name: 'desk',
    entry: 'src/desk/client/main.tsx',
    devEntry: 'src/desk/client/develop.ts',
    table: 'src/desk/shared/routes.tsx',
  },
];

/** Bundles of the server, by name. It does not start without them. */
export const parts = { 'desk-worker': 'src/desk/server/worker/main.ts', desk: 'src/desk/server/command.ts' };

/** Those of them that are commands, which also run without npm, and if the site does not start. */
export const commands = ['desk'];

/** First parts of paths that it uses, also under `/api`. */
export const paths = ['desk'];
