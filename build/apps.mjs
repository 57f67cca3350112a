/**
 * What browsers get, as apps that know nothing of each other: each has an entry, a route table and
 * chunks of its own, so that the desk adds no byte to a page of the product.
 *
 * @typedef {object} App
 * @property {string} name of its first script too
 * @property {string} entry
 * @property {string} table a file that exports a list named `routes`
 */

/** @type {App} */
export const product = { name: 'main', entry: 'src/client/main.tsx', table: 'src/shared/product/routes.tsx' };

/** @type {App} */
export const desk = { name: 'desk', entry: 'src/client/desk/main.tsx', table: 'src/shared/desk/routes.tsx' };
