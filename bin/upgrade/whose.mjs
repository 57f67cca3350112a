const folders = ['bench', 'bin', 'build', 'docs', 'src', 'tests'];
const files = ['build.mjs', 'moves.json'];
/** Files that you replace by your own. */
const yours = ['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'SECURITY.md'];
const product = /^(?:(?:src|tests)\/[^/]+\/product|src\/client\/public|bench\/product)\//;
/** These connect your tests to Spillway's. Each release can change them. */
const testSupport = 'tests/support/product/';

/**
 * Says whose a file of a release is. An upgrade leaves `product` files alone, replaces `yours` only if you have not
 * changed them, and merges all others. `shared` files are those that apps usually change, such as package.json.
 *
 * @param {string} path relative to the root of the app
 * @returns {'product' | 'yours' | 'shared' | 'spillway'}
 */
export function toOwner(path) {
  if (path.startsWith(testSupport)) return 'shared';
  if (product.test(path)) return 'product';
  if (yours.includes(path)) return 'yours';
  return files.includes(path) || folders.includes(path.split('/')[0]) ? 'spillway' : 'shared';
}
