import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { readNames } from '../import-by-name.mjs';
import { findNodes } from '../syntax-tree.mjs';

/**
 * Lists the names of CommonJS modules that an ES module passes on with `export *`, directly or through other modules.
 * esbuild finds these only when the code runs.
 *
 * @param {string} root
 * @param {import('esbuild').Metafile['inputs']} inputs
 * @param {string} from an input
 * @returns {Promise<Set<string>>}
 */
export async function listCommonNames(root, inputs, from) {
  const names = new Set();
  const seen = new Set();
  async function visit(path) {
    const input = inputs[path];
    if (!input || seen.has(path)) return;
    seen.add(path);
    const source = await readFile(join(root, path), 'utf8').catch(() => ''); // a plugin can have made it
    const { own, stars } = input.format === 'cjs' ? readCommon(source) : { own: [], stars: readStars(source) };
    for (const name of own) names.add(name);
    for (const { path: other, original } of input.imports) if (stars.includes(original)) await visit(other);
  }
  await visit(from);
  return names;
}

function readStars(source) {
  const { exports } = readNames(source);
  return exports
    .filter(({ importName }) => importName.kind === 'AllButDefault')
    .map(({ moduleRequest }) => moduleRequest.value);
}

/** Reads what compilers and people write: assignments, `defineProperty`, `__exportStar`, and objects as `module.exports`. */
function readCommon(source) {
  const own = new Set();
  const stars = [];
  const addAll = (value) => {
    if (isRequire(value)) stars.push(value.arguments[0].value);
    for (const { key, argument } of value.properties ?? []) {
      if (argument) addAll(argument);
      else own.add(toName(key));
    }
  };
  for (const node of findNodes(parseSync('module.js', source).program, ({ type }) => /^(?:Assign|Call)/.test(type))) {
    const { left, right, callee, arguments: [first, second] = [] } = node;
    if (left && isExports(left)) addAll(right);
    else if (left?.type === 'MemberExpression' && isExports(left.object)) own.add(toName(left.property));
    else if (callee && isExports(first) && toName(callee.property) === 'defineProperty') own.add(toName(second));
    else if (callee && isRequire(first) && /^__export(?:Star)?$/.test(toName(callee.property ?? callee))) addAll(first);
  }
  return { own: [...own].filter((name) => /^(?!default$|__esModule$)[\w$]+$/.test(name) && !/^\d/.test(name)), stars };
}

/** The name of an identifier, or the text of a literal. */
const toName = (node) => String(node?.name ?? node?.value ?? '');
const isRequire = (node) => node?.type === 'CallExpression' && node.callee.name === 'require';
const isExports = (node) =>
  node?.name === 'exports' ||
  (node?.type === 'MemberExpression' && node.object.name === 'module' && node.property.name === 'exports');
