import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createCache } from '../cache.mjs';
import { indexSource } from './index-source.mjs';

/** One file for each version of the code below, and for each set of helpers. */
const cache = createCache('sources', { maxBytes: 1024 * 1024 });

/** What the index of a source depends on, besides the source. */
const code = [
  ...['index-source.mjs', 'handler-names.mjs', 'statement.mjs', '../../src/shared/location-format.mjs'].map((file) =>
    readFileSync(new URL(file, import.meta.url), 'utf8'),
  ),
  createRequire(import.meta.url)('oxc-parser/package.json').version,
];

/**
 * Keeps the index of each source for the next build, because most sources stay the same, and parsing them all takes
 * longer than bundling them.
 *
 * @param {{ helpers?: readonly string[] }} owner
 */
export async function openSourceIndex({ helpers = [] }) {
  const key = hash('sha256', JSON.stringify([process.version, code, helpers]));
  /** @type {Map<string, import('./index-source.mjs').SourceIndex>} */
  const known = (await cache.read(key)) ?? new Map();
  const used = new Map();
  return {
    /** @type {typeof indexSource} */
    index(path, text, options) {
      const source = hash('sha256', `${path}\0${text}`, 'base64url');
      const index = used.get(source) ?? known.get(source) ?? indexSource(path, text, options);
      used.set(source, index);
      return index;
    },
    async save() {
      if (used.size === known.size && [...used.keys()].every((source) => known.has(source))) return;
      await cache.write(key, used);
    },
  };
}
