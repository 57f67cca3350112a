/**
 * A client app, with its own entry, route table and chunks. `destination.mjs` lists the others.
 *
 * @typedef {object} App
 * @property {string} name also the name of its first script
 * @property {string} entry
 * @property {string} table a file that exports a list named `routes`
 */

/** @type {App} */
export const product = { name: 'main', entry: 'src/client/main.tsx', table: 'src/shared/product/routes.tsx' };
