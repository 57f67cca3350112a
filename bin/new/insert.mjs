import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { findNode } from '../../build/syntax-tree.mjs';

// Inserts code into files that you edit. Biome formats the result.

/** Finds the children of the first layout, or of the layout with an id. */
export function findChildren(program, layout) {
  const table = findNode(program, ({ type, callee }) => type === 'CallExpression' && callee.name === 'defineRoutes');
  const hasId = (node) => isProperty(node, 'id') && node.value.value === layout;
  const owner = layout ? findNode(table, ({ properties }) => properties?.some(hasId)) : table;
  return findNode(owner, (node) => isProperty(node, 'children'))?.value;
}

/** Finds the object of a constant. */
export function findObject(program, name) {
  const constant = findNode(program, ({ type, id }) => type === 'VariableDeclarator' && id.name === name);
  return findNode(constant, ({ type }) => type === 'ObjectExpression');
}

/** Finds the list that a function returns. */
export function findReturned(program, name) {
  const made = findNode(program, ({ type, id }) => type === 'FunctionDeclaration' && id.name === name);
  return findNode(made, ({ type }) => type === 'ReturnStatement')?.argument;
}

/**
 * Plans an item at the end of a list or object, and its imports.
 *
 * @returns {import('./new.mjs').Plan['edits'][number]}
 */
export function planEdit(root, { path, imports = [], item, place, find }) {
  const text = insert(readFileSync(join(root, path), 'utf8'), find, item, imports);
  return { path, text, byHand: `${[...imports, item].join(' ')}, in ${place}` };
}

/** @returns {string | undefined} undefined if `find` does not find the list or object */
export function insert(source, find, item, imports = []) {
  const { program } = parseSync('source.tsx', source);
  const list = find(program);
  const items = list?.elements ?? list?.properties;
  if (!items) return undefined;
  const end = list.end - 1;
  const hasComma = items.length === 0 || source.slice(items.at(-1).end, end).trimStart().startsWith(',');
  const last = program.body.findLast(({ type }) => type === 'ImportDeclaration');
  const start = last ? source.indexOf('\n', last.end) + 1 : 0;
  const lines = imports.map((line) => `${line}\n`).join('');
  return `${source.slice(0, start)}${lines}${source.slice(start, end)}${hasComma ? '' : ','}${item}${source.slice(end)}`;
}

function isProperty({ type, key }, name) {
  return type === 'Property' && key.name === name;
}
