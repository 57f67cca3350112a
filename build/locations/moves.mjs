import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Lists code that was moved or renamed after its failures were first seen. Digests use the first names, so the address
 * of a failure stays the same.
 *
 * Each move is a pair, from and to, in chronological order: `["src/a.ts", "src/b.ts"]` for a file,
 * `["src/a.ts#load", "src/b.ts#read"]` for a function and its contents, and
 * `["src/a.ts#load#throw new Error(\"x\")", "src/b.ts#read#throw new Error(\"y\")"]` for a statement as digests have it.
 *
 * @typedef {[from: string, to: string]} Move
 * @typedef {{ path: string, function: string, detail: string }} Location
 */

/**
 * Reads the moves of Spillway and of the product, from `moves.json` and `src/server/product/build.mjs`.
 *
 * @param {string} root
 * @param {{ moves?: readonly Move[] }} owner
 * @returns {Move[]}
 */
export function readMoves(root, { moves = [] } = {}) {
  const file = join(root, 'moves.json');
  return [...(existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []), ...moves];
}

/**
 * @param {readonly Move[]} list
 * @returns {(location: Location) => Location | undefined} the first names of a location, undefined if it was never moved
 * @throws Error for an invalid move
 */
export function createFirstNames(list) {
  const byPath = Map.groupBy(list.map(parseMove), ({ to }) => to.path);

  return function toFirstNames(location) {
    let current = location;
    let before = list.length;
    for (;;) {
      const move = byPath.get(current.path)?.findLast(({ index, to }) => index < before && isIn(current, to));
      if (!move) return current === location ? undefined : current;
      current = moveBack(current, move);
      before = move.index;
    }
  };
}

function parseMove(move, index) {
  const [from, to] = Array.isArray(move) && move.length === 2 ? move.map(parseLocation) : [];
  if (!from || !to || (from.function === undefined) !== (to.function === undefined)) throw wrongMove(move);
  if ((from.detail === undefined) !== (to.detail === undefined)) throw wrongMove(move);
  return { index, from, to };
}

function wrongMove(move) {
  return new Error(
    `${JSON.stringify(move)} is not a valid move. Write ["old file", "new file"], or add "#function" or "#function#statement" to both (moves.json, or \`moves\` in src/server/product/build.mjs).`,
  );
}

function parseLocation(text) {
  // In `a.ts#Reader.#open#throw error`, the second # is part of a private method's name.
  const [, path, name, detail] = /^([^#]+)(?:#((?:[^#]|(?<=\.)#)*)(?:#(.+))?)?$/s.exec(text) ?? [];
  return path === undefined ? undefined : { path, function: name, detail };
}

function isIn(location, { function: name, detail }) {
  if (name === undefined) return true;
  if (detail !== undefined) return location.function === name && location.detail === detail;
  return location.function === name || (name !== '' && location.function.startsWith(`${name}.`));
}

function moveBack(location, { from, to }) {
  return {
    path: from.path,
    function:
      to.function === undefined ? location.function : from.function + location.function.slice(to.function.length),
    detail: to.detail === undefined ? location.detail : from.detail,
  };
}
