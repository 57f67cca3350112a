/**
 * Text is put into files that somebody else formats and edits, so the places are found by what the
 * code says and not by its lines. Each function answers undefined where it does not find its place.
 */

/**
 * The routes of a table, as far as they are written down in it.
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
 * Adds a route to the children of the first layout.
 *
 * @param {string} source
 * @param {string} route
 */
export function addRoute(source, route) {
  const code = mask(source);
  const table = /\bdefineRoutes\s*\(\s*\[/.exec(code);
  if (!table) return undefined;
  for (const start of listItems(code, table.index + table[0].length - 1)) {
    const children = code[start] === '{' ? findValue(code, start, 'children') : undefined;
    if (children !== undefined && code[children] === '[') return insertLast(source, code, children, route);
  }
  return undefined;
}

/**
 * Adds a property to the object that a constant holds.
 *
 * @param {string} source
 * @param {string} name
 * @param {string} property
 */
export function addProperty(source, name, property) {
  const code = mask(source);
  const found = new RegExp(`\\bconst ${name}\\b[^=;]*=\\s*\\{`).exec(code);
  return found ? insertLast(source, code, found.index + found[0].length - 1, property) : undefined;
}

/**
 * Has a router that is made and returned by one function use another one.
 *
 * @param {string} source
 * @param {string} router
 */
export function addUse(source, router) {
  const code = mask(source);
  const [, name] = /\bconst (\w+) = Router\(\)/.exec(code) ?? [];
  const end = name && new RegExp(`^([ \\t]*)return ${name};`, 'm').exec(code);
  return end ? `${source.slice(0, end.index)}${end[1]}${name}.use(${router});\n${source.slice(end.index)}` : undefined;
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

/** The code with each comment blank and each character of a string an `x`, every other one in its place. */
export function mask(source, { strings = true } = {}) {
  const parts = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|(['"])(?:\\.|(?!\1)[^\\\n])*\1|`(?:\\.|[^\\`])*`/g;
  return source.replace(parts, (part) => {
    if (part.startsWith('/')) return part.replace(/[^\n]/g, ' ');
    return strings ? part[0] + part.slice(1, -1).replace(/[^\n]/g, 'x') + part[0] : part;
  });
}

const CLOSING = { '(': ')', '[': ']', '{': '}' };

/** Where the bracket at `open` closes; -1 where it does not. */
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

/** Where the items of the list at `open` begin. */
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

/** Where the value of a property of the object at `open` begins. */
function findValue(code, open, key) {
  const property = new RegExp(`^${key}\\s*:\\s*`);
  for (const start of listItems(code, open)) {
    const found = property.exec(code.slice(start));
    if (found) return start + found[0].length;
  }
  return undefined;
}

/** Adds an item at the end of the list at `open`, on a line of its own where the list has lines. */
function insertLast(source, code, open, item) {
  const close = findClose(code, open);
  if (close < 0) return undefined;
  const inside = code.slice(open + 1, close);
  const last = open + 1 + inside.trimEnd().length;
  const comma = inside.trim() === '' || inside.trimEnd().endsWith(',') ? '' : ',';
  const lineStart = code.lastIndexOf('\n', close) + 1;
  if (lineStart <= open) {
    const space = inside.trim() === '' ? '' : ' ';
    return `${source.slice(0, last)}${comma}${space}${item}${source.slice(close)}`;
  }
  const indent = /^[ \t]*/.exec(code.slice(lineStart))[0];
  const line = `${item.replace(/^/gm, `${indent}  `)},\n`;
  const before = source.slice(0, last) + comma;
  // A list that begins on one line and ends in the middle of another has no line to come before.
  return code.slice(lineStart, close).trim() === ''
    ? before + source.slice(last, lineStart) + line + source.slice(lineStart)
    : `${before}${source.slice(last, close)}\n${line}${indent}${source.slice(close)}`;
}
