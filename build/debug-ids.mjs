// Debug ids (a proposal for ECMA-426, supported by Sentry): a bundle and its source map have the same id, so that the
// receiver of an error finds the right map, whatever the file is called. The server adds them to what it sends, also for
// scripts of browsers.

import { hash } from 'node:crypto';

/**
 * Adds ids to scripts and their source maps. A script has its id at the end, where it moves no position. The id depends
 * only on the script's text, like its name, so that a cached script with the same name has the same id.
 *
 * @param {{ path: string, contents: Uint8Array }[]} files of all bundles, with paths within `dist`
 * @returns the files, and the ids of the scripts by path
 */
export function addDebugIds(files) {
  const scripts = files.filter(({ path, contents }) => path.endsWith('.js') && contents.length > 0);
  const ids = new Map(scripts.map(({ path, contents }) => [path, toDebugId(contents)]));
  const withIds = files.map(({ path, contents }) => {
    const id = ids.get(path.replace(/^maps\/(.+)\.map$/, '$1'));
    if (id === undefined) return { path, contents };
    return { path, contents: path.endsWith('.map') ? toMap(contents, id) : toScript(contents, id) };
  });
  return { files: withIds, debugIds: Object.fromEntries(ids) };
}

function toScript(contents, id) {
  return Buffer.concat([contents, Buffer.from(`//# debugId=${id}\n`)]);
}

/** Inserts the id after the opening brace, without parsing several megabytes of JSON. */
function toMap(contents, id) {
  const start = contents.indexOf('{'.charCodeAt(0)) + 1;
  return Buffer.concat([
    contents.subarray(0, start),
    Buffer.from(`\n  "debugId": "${id}",\n  "debug_id": "${id}",`),
    contents.subarray(start),
  ]);
}

/** Returns a UUID of version 8, whose bits can be chosen freely (RFC 9562). */
function toDebugId(contents) {
  const bytes = hash('sha256', contents, 'buffer').subarray(0, 16);
  bytes[6] = (bytes[6] & 0x0f) | 0x80;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
