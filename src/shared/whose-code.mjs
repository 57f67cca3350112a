// JavaScript, because the build and the start use it too, and neither waits for a compiler.

/**
 * Reports whether a file is in one of the `product` folders, which are yours.
 *
 * @param {string} path relative to the project's root, with `/`
 */
export function isInProduct(path) {
  return /^(?:src|tests)\/(?:\w+\/)?product\//.test(path);
}

/**
 * Reports whether a file of a release is yours to edit: in a `product` folder, or a public file. Upgrades leave it out.
 * `tests/support/product` connects your tests to Spillway's, so it is not yours.
 *
 * @param {string} path relative to the project's root, with `/`
 */
export function isYours(path) {
  return (isInProduct(path) && !path.startsWith('tests/support/')) || path.startsWith('src/client/public/');
}

/**
 * Reports whether code is the product's: in a `product` folder, or outside of Spillway's folders, such as an existing
 * app. Digests look for a failure in this code first, and the desk folds the rest. Everything else that depends on
 * whose code a path is asks here too.
 *
 * @param {string} path relative to the project's root, with `/`
 */
export function isProductCode(path) {
  if (path.startsWith('node_modules/')) return false;
  return isInProduct(path) || !/^(?:src\/(?:server|client|shared|desk)|tests)\//.test(path);
}
