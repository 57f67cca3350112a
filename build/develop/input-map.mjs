import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decodedMappings, encodedMappings, TraceMap, traceSegment } from '@jridgewell/trace-mapping';

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
  const inputMap = new TraceMap(input);
  const lines = decodedMappings(new TraceMap(map)).map((segments) =>
    segments.flatMap(([column, , line, originalColumn]) => {
      const [, ...original] = (line !== undefined && traceSegment(inputMap, line, originalColumn)) || [];
      return original.length > 0 ? [[column, ...original.slice(0, 3)]] : [];
    }),
  );
  const { sources, sourcesContent } = input;
  const joined = { version: 3, names: [], sources, sourcesContent };
  return { ...joined, mappings: encodedMappings(new TraceMap({ ...joined, mappings: lines })) };
}
