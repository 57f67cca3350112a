import { resolve } from 'node:path';
import { decodedMappings, TraceMap } from '@jridgewell/trace-mapping';
import { encodeVlq, FLAGS, LINE_END, VERSION } from '../src/shared/location-format.mjs';
import { toRelative } from './files.mjs';
import { indexSource } from './locations/index-source.mjs';
import { createFirstNames, readMoves } from './locations/moves.mjs';
import { findOwner } from './packages.mjs';

/** Modules of the project: in `src`, or in the folder of an existing app. */
const isModule = /^(?!\.\.\/|(?:.*\/)?node_modules\/)[^:]+\.[cm]?[jt]sx?$/;

/**
 * Creates the table by which digests map a position in a bundle to the source: file, named function, and the `throw`
 * statement if there is one. It is much smaller than source maps, because all positions of a function are one entry, and
 * so are all positions of a dependency.
 *
 * @param {string} root
 * @param {{ path: string, contents: Uint8Array | string }[]} maps of all bundles, with paths as in `dist/maps`
 * @param {Partial<Pick<import('./owner.mjs').OwnersBuild, 'helpers' | 'moves'>> & { index?: typeof indexSource }} [options]
 * @returns {string} JSON
 */
export function createLocations(root, maps, { helpers = [], moves, index: toIndex = indexSource } = {}) {
  const strings = new Map([['', 0]]);
  const locations = new Map([['0,0,0,0,0', 0]]);
  const toFirstNames = createFirstNames(readMoves(root, { moves }));
  const firstNames = {};
  const indexes = new Map();
  const properties = {};
  const bundles = {};

  /** Returns the index of a file, shared by all bundles with the same text of the file. */
  function indexOf(path, text) {
    const known = indexes.get(path);
    if (known?.text === text) return known;
    const { starts, locations: found, properties: names } = toIndex(path, text, { helpers });
    const lines = toLineStarts(text);
    properties[path] = [...new Set([...(properties[path] ?? []), ...names])].sort();
    const numbers = found.map((location) => {
      const number = numberOf(locations, toEntry(path, location, lines).join());
      const first = toFirstNames({ path, function: location.function, detail: location.detail });
      if (first) firstNames[number] = first;
      return number;
    });
    const index = { text, starts, numbers, lines };
    indexes.set(path, index);
    return index;
  }

  function toEntry(path, location, lines) {
    return [
      numberOf(strings, path),
      numberOf(strings, location.function),
      numberOf(strings, location.detail),
      findLast(lines, location.offset) + 1,
      (location.isErrorClass ? FLAGS.errorClass : 0) |
        (location.isHelper ? FLAGS.helper : 0) |
        (FLAGS[location.kind] ?? 0),
    ];
  }

  function toFinder(path, text) {
    if (isModule.test(path) && text) {
      const { starts, numbers, lines } = indexOf(path, text);
      return (line, column) => numbers[findLast(starts, (lines[line] ?? 0) + column)] ?? 0;
    }
    const name = path.startsWith('src/') ? path : toPackage(path);
    const number = numberOf(locations, `${numberOf(strings, name)},0,0,0,0`);
    return () => number;
  }

  for (const { path, contents } of maps) {
    const map = JSON.parse(typeof contents === 'string' ? contents : new TextDecoder().decode(contents));
    const file = path.replace(/^maps\//, '').replace(/\.map$/, '');
    const folder = resolve(root, 'dist', file, '..');
    const finders = map.sources.map((source, index) =>
      toFinder(toSourcePath(root, folder, source), map.sourcesContent?.[index]),
    );
    bundles[file] = encodeBundle(decodedMappings(new TraceMap(map)), finders);
  }
  return JSON.stringify({
    version: VERSION,
    strings: [...strings.keys()],
    sites: [...locations.keys()].flatMap((location) => location.split(',').map(Number)),
    firstNames,
    properties: Object.fromEntries(Object.entries(properties).map(([path, names]) => [path, names.join(' ')])),
    bundles,
  });
}

/** Encodes line, column and location as differences to the previous entry. A position has the location of the last entry. */
function encodeBundle(mappings, finders) {
  const parts = [];
  let [lastLine, lastColumn, lastLocation] = [0, 0, 0];
  for (const [line, segments] of mappings.entries()) {
    for (const [column, source, originalLine, originalColumn] of segments) {
      const location = finders[source]?.(originalLine, originalColumn) ?? 0;
      if (location === lastLocation) continue;
      const from = line === lastLine ? lastColumn : 0;
      parts.push(encodeVlq(line - lastLine), encodeVlq(column - from), encodeVlq(location - lastLocation));
      [lastLine, lastColumn, lastLocation] = [line, column, location];
    }
  }
  return parts.join('');
}

/** Returns a path relative to the root. esbuild's are relative to the bundle or begin with a plugin's namespace. */
function toSourcePath(root, folder, source) {
  if (/^[\w-]{2,}:/.test(source)) return source;
  return toRelative(root, resolve(folder, source));
}

/** Returns `node_modules/pg` for any file of it. Modules of plugins have their namespace instead. */
function toPackage(path) {
  return `node_modules/${findOwner(path) ?? `(${path.includes(':') ? path.split(':')[0] : 'linked'})`}`;
}

/** @returns {number[]} start offsets of the lines, counted as in source maps */
function toLineStarts(text) {
  return [0, ...Array.from(text.matchAll(LINE_END), (end) => end.index + end[0].length)];
}

/** Returns the index of the last of `starts` that is not after `offset`. */
function findLast(starts, offset) {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Numbers distinct items in the order of their first use. */
function numberOf(numbers, item) {
  if (!numbers.has(item)) numbers.set(item, numbers.size);
  return numbers.get(item);
}
