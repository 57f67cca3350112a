import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { findNode } from '../../build/syntax-tree.mjs';

/**
 * Inserts code into files that you edit. Functions that add return undefined if it does not find its position. Biome formats
 * the result.
 */

/** Adds a route to the children of the first layout, or of the layout with an id. */
export function addRoute(source, route, layout) {
  const table = findNode(
    parse(source),
    ({ type, callee }) => type === 'CallExpression' && callee.name === 'defineRoutes',
  );
  const hasId = (node) => isProperty(node, 'id') && node.value.value === layout;
  const owner = layout ? findNode(table, ({ properties }) => properties?.some(hasId)) : table;
  const children = findNode(owner, (node) => isProperty(node, 'children'))?.value;
  return insertLast(source, children, route);
}

/** Adds a property to the object of a constant. */
export function addProperty(source, name, property) {
  const constant = findNode(parse(source), ({ type, id }) => type === 'VariableDeclarator' && id.name === name);
  return insertLast(
    source,
    findNode(constant, ({ type }) => type === 'ObjectExpression'),
    property,
  );
}

/** Adds an item to the list that a function returns. */
export function addReturned(source, name, item) {
  const made = findNode(parse(source), ({ type, id }) => type === 'FunctionDeclaration' && id.name === name);
  return insertLast(source, findNode(made, ({ type }) => type === 'ReturnStatement')?.argument, item);
}

/**
 * Plans an item and its imports in a file.
 *
 * @returns {import('./new.mjs').Plan['edits'][number]}
 */
export function planEdit(root, { path, imports = [], item, place, add }) {
  const text = add(readFileSync(join(root, path), 'utf8'), item);
  return { path, text: text && addImports(text, imports), byHand: `${[...imports, item].join(' ')}, in ${place}` };
}

/** Adds imports below the last one. */
function addImports(source, imports) {
  const last = parse(source).findLast(({ type }) => type === 'ImportDeclaration');
  const lines = imports.map((line) => `${line}\n`).join('');
  const place = last ? source.indexOf('\n', last.end) + 1 : 0;
  return source.slice(0, place) + lines + source.slice(place);
}

function parse(source) {
  return parseSync('source.tsx', source).program.body;
}

function isProperty({ type, key }, name) {
  return type === 'Property' && key.name === name;
}

function insertLast(source, list, item) {
  const items = list?.elements ?? list?.properties;
  if (!items) return undefined;
  const end = list.end - 1;
  const needsComma = items.length > 0 && !/^\s*,/.test(source.slice(items.at(-1).end, end));
  return `${source.slice(0, end)}${needsComma ? ',' : ''}${item}${source.slice(end)}`;
}
