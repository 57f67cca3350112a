import {
  createDigest,
  DIGEST_RULE,
  type DigestInput,
  type DigestResult,
} from '../../../engine/errors/digest/create-digest.ts';
import {
  emptyLocationTable,
  type LocationTable,
  parseLocationTable,
} from '../../../engine/errors/digest/location-table.ts';
import type { StackFrame } from '../../../engine/errors/failure.ts';

/** Makes digests in the desk worker, for failures that it detects itself and for events of earlier builds. */
export type Digester = ReturnType<typeof createDigester>;

export function createDigester({ namespace }: { namespace: string }) {
  // Caches one table, because events of an earlier build arrive together, from tabs that were open at the deployment.
  let last: { readonly text: string; readonly table: LocationTable } | undefined;

  function read(text: string | undefined): LocationTable {
    if (text === undefined) return emptyLocationTable;
    if (last?.text !== text) last = { text, table: parse(text) };
    return last.table;
  }

  return {
    /** The version of the digest rule. */
    rule: DIGEST_RULE,
    /** @param sites the text of the build's `sites.json`, if it has one */
    createDigest: (input: DigestInput, sites?: string): DigestResult =>
      createDigest(input, { namespace, table: read(sites) }),
    /** Returns the qualified name of the function around a location in a bundle. Stacks have only the minified name. */
    findFunction: (frame: StackFrame, sites?: string): string | undefined =>
      read(sites).find(frame)?.function || undefined,
  };
}

/** Returns an empty table if the text is from another version. Digests are then made from the errors' texts. */
function parse(text: string): LocationTable {
  try {
    return parseLocationTable(text);
  } catch {
    return emptyLocationTable;
  }
}
