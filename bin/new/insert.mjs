/**
 * Inserts code into files that you format and edit, so it finds positions by syntax and not by lines. Each function
 * returns undefined if it does not find its position.
 */

/**
 * Returns the ids and paths that a route table contains as literals.
 *
 * @param {string} source
 */
export function listRoutes(source) {
  const text = mask(source, { strings: false });
  const read = (key) =>
    [...text.matchAll(new RegExp(`\\b${key}:\\s*(['"\`])(.*?)\\1`, 'g'))].map(([, , value]) => value);
  return { ids: read('id'), paths: read('path') };
}

/**
 * Adds a route to the children of the first layout, or of the layout with an id.
 *
 * @param {string} source
 * @param {string} route
 * @param {string} [layout]
 */
export function addRoute(source, route, layout) {
  const code = mask(source);
  const table = /\bdefineRoutes\s*\(\s*\[/.exec(code);
  if (!table) return undefined;
  for (const start of listItems(code, table.index + table[0].length - 1)) {
    if (code[start] !== '{') continue;
    const id = findValue(code, start, 'id');
    if (layout !== undefined && (id === undefined || !source.startsWith(layout, id + 1))) continue;
    const children = findValue(code, start, 'children');
    if (children !== undefined && code[children] === '[') return insertLast(source, code, children, route);
  }
  return undefined;
}

/**
 * Adds a property to the object of a constant, or an item to its list.
 *
 * @param {string} source
 * @param {string} name
 * @param {string} property
 */
export function addProperty(source, name, property) {
  const code = mask(source);
  const found = new RegExp(`\\bconst ${name}\\b[^=;]*=\\s*[{[]`).exec(code);
  return found ? insertLast(source, code, found.index + found[0].length - 1, property) : undefined;
}

/**
 * Adds an item to the list that a function returns.
 *
 * @param {string} source
 * @param {string} name
 * @param {string} item
 */
export function addReturned(source, name, item) {
  const code = mask(source);
  const found = new RegExp(`\\bfunction ${name}\\b[^]*?\\breturn \\[`).exec(code);
  return found ? insertLast(source, code, found.index + found[0].length - 1, item) : undefined;
}

/**
 * Adds imports below the last one.
 *
 * @param {string} source
 * @param {string[]} imports
 */
export function addImports(source, imports) {
  const all = [...mask(source).matchAll(/^import\b[^;]*;[^\n]*\n/gm)];
  const end = all.length > 0 ? all[all.length - 1].index + all[all.length - 1][0].length : 0;
  return `${source.slice(0, end)}${imports.map((line) => `${line}\n`).join('')}${source.slice(end)}`;
}

/** Replaces comments with spaces and the characters of strings with `x`, so that all positions stay the same. */
export function mask(source, { strings = true } = {}) {
  const parts = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|(['"])(?:\\.|(?!\1)[^\\\n])*\1|`(?:\\.|[^\\`])*`/g;
  return source.replace(parts, (part) => {
    if (part.startsWith('/')) return part.replace(/[^\n]/g, ' ');
    return strings ? part[0] + part.slice(1, -1).replace(/[^\n]/g, 'x') + part[0] : part;
  });
}

const CLOSING = { '(': ')', '[': ']', '{': '}' };

/** Returns the position of the bracket that closes the one at `open`, or -1. */
function findClose(code, open) {
  const expected = [];
  for (let index = open; index < code.length; index += 1) {
    const character = code[index];
    if (character in CLOSING) expected.push(CLOSING[character]);
    else if (')]}'.includes(character) && character !== expected.pop()) return -1;
    if (expected.length === 0) return index;
  }
  return -1;
}

/** Returns the start positions of the items of the list at `open`. */
function listItems(code, open) {
  const close = findClose(code, open);
  const starts = [];
  let isNew = true;
  for (let index = open + 1; index < close; index += 1) {
    const character = code[index];
    if (/\s/.test(character)) continue;
    if (isNew) starts.push(index);
    isNew = character === ',';
    if (character in CLOSING) {
      const end = findClose(code, index);
      if (end < 0) return starts;
      index = end;
    }
  }
  return starts;
}

/** Returns the start position of a property's value in the object at `open`. */
function findValue(code, open, key) {
  const property = new RegExp(`^${key}\\s*:\\s*`);
  for (const start of listItems(code, open)) {
    const found = property.exec(code.slice(start));
    if (found) return start + found[0].length;
  }
  return undefined;
}

/** Adds an item at the end of the list at `open`, for Biome to format. */
function insertLast(source, code, open, item) {
  const close = findClose(code, open);
  if (close < 0) return undefined;
  const inside = code.slice(open + 1, close).trimEnd();
  const last = open + 1 + inside.length;
  const comma = inside === '' || inside.endsWith(',') ? '' : ',';
  return `${source.slice(0, last)}${comma}${source.slice(last, close)}${item},\n${source.slice(close)}`;
}
