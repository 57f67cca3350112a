/**
 * The client apps. Each has its own entry, route table and chunks, so that the desk adds no byte to the product's pages.
 *
 * @typedef {object} App
 * @property {string} name also the name of its first script
 * @property {string} entry
 * @property {string} table a file that exports a list named `routes`
 */

/** @type {App} */
export const product = { name: 'main', entry: 'src/client/main.tsx', table: 'src/shared/product/routes.tsx' };

/** @type {App} */
export const desk = { name: 'desk', entry: 'src/client/desk/main.tsx', table: 'src/shared/desk/routes.tsx' };
