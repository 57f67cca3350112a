// Debug ids (a proposal for ECMA-426, and what Sentry reads): a bundle and its map carry the same id, so
// that whoever receives an error finds the map of the very file, whatever it is called. A script cannot
// read its own id, so each one leaves it under its own stack, from which the SDK takes the file's name.

import { hash } from 'node:crypto';

/**
 * The same files with ids: a script at its end, where no position in it moves, and its map. An id comes
 * from the text of the script alone, as its name does, so that a stored script and its name still agree.
 *
 * @param {{ path: string, contents: Uint8Array }[]} outputs scripts and maps of both bundles
 * @returns {{ path: string, contents: Uint8Array }[]}
 */
export function addDebugIds(outputs) {
  const ids = new Map(
    outputs
      .filter(({ path, contents }) => /\.m?js$/.test(path) && contents.length > 0)
      .map((file) => [file.path, toDebugId(file.contents)]),
  );
  return outputs.map(({ path, contents }) => {
    const id = ids.get(path.replace(/\.map$/, ''));
    if (id === undefined) return { path, contents };
    return { path, contents: path.endsWith('.map') ? toMap(contents, id) : toScript(contents, id) };
  });
}

/**
 * By path, the ids of scripts that have one: for whoever reports a stack without running the SDK.
 *
 * @param {{ path: string, contents: Uint8Array }[]} files
 * @returns {Record<string, string>}
 */
export function listDebugIds(files) {
  const ids = files.map(({ path, contents }) => [
    path,
    idAtEnd.exec(Buffer.from(contents.subarray(-64)).toString())?.[1],
  ]);
  return Object.fromEntries(ids.filter(([path, id]) => id !== undefined && /\.m?js$/.test(path)));
}

const idAtEnd = /\/\/# debugId=([\w-]{36})\s*$/;

function toScript(contents, id) {
  const register = `try{(globalThis._sentryDebugIds??={})[Error().stack]="${id}"}catch{}`;
  return Buffer.concat([contents, Buffer.from(`${register}\n//# debugId=${id}\n`)]);
}

/** Without parsing several megabytes: the map is an object with members. */
function toMap(contents, id) {
  const start = contents.indexOf('{'.charCodeAt(0)) + 1;
  return Buffer.concat([
    contents.subarray(0, start),
    Buffer.from(`\n  "debugId": "${id}",\n  "debug_id": "${id}",`),
    contents.subarray(start),
  ]);
}

/** A UUID of version 8, whose bits are up to who makes it (RFC 9562). */
function toDebugId(contents) {
  const bytes = hash('sha256', contents, 'buffer').subarray(0, 16);
  bytes[6] = (bytes[6] & 0x0f) | 0x80;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
