import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readMappings, toVlq } from '../sites/mappings.mjs';

/**
 * Reads the source map that a module brings, as the output of a plugin often does: esbuild applies it too.
 *
 * @param {string} path absolute, of the module
 * @param {string} text the module, with the map in its last `sourceMappingURL`
 * @returns a map with absolute sources; undefined if there is none that can be read
 */
export function readInputMap(path, text) {
  const url = [...text.matchAll(/\/\/[#@] sourceMappingURL=(\S+)/g)].at(-1)?.[1];
  if (url === undefined) return undefined;
  try {
    const map = JSON.parse(url.startsWith('data:') ? readDataUrl(url) : readFileSync(join(dirname(path), url), 'utf8'));
    const toPath = (source) =>
      source.startsWith('file:') ? fileURLToPath(source) : resolve(dirname(path), map.sourceRoot ?? '', source);
    return { ...map, sourceRoot: undefined, sources: map.sources.map(toPath) };
  } catch {
    return undefined;
  }
}

function readDataUrl(url) {
  const [head, data] = url.split(/,(.*)/s);
  return head.endsWith(';base64') ? Buffer.from(data, 'base64').toString() : decodeURIComponent(data);
}

/**
 * Returns the map from a module to the sources of the text that it was compiled from.
 *
 * @param {any} map from the module to that text
 * @param {any} input the text's own map
 */
export function throughInputMap(map, input) {
  const inputMap = new SourceMap(input);
  const numbers = new Map(input.sources.map((source, index) => [source, index]));
  const lines = [];
  let last = [0, 0, 0];
  readMappings(map.mappings, (line, column, source, originalLine, originalColumn) => {
    const entry = source < 0 ? undefined : inputMap.findEntry(originalLine, originalColumn);
    // The last position of an earlier line is not that of this one.
    if (entry?.originalSource === undefined || entry.generatedLine !== originalLine) return;
    const next = [numbers.get(entry.originalSource) ?? 0, entry.originalLine, entry.originalColumn];
    while (lines.length <= line) lines.push({ column: 0, segments: [] });
    const at = lines[line];
    at.segments.push(toVlq(column - at.column) + next.map((value, index) => toVlq(value - last[index])).join(''));
    at.column = column;
    last = next;
  });
  const { sources, sourcesContent } = input;
  const mappings = lines.map(({ segments }) => segments.join(',')).join(';');
  return { version: 3, names: [], sources, sourcesContent, mappings };
}
