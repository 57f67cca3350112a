import {
  createDigest,
  DIGEST_RULE,
  type DigestInput,
  type DigestResult,
} from '../../../engine/errors/digest/create-digest.ts';
import { emptySiteTable, parseSiteTable, type SiteTable } from '../../../engine/errors/digest/site-table.ts';
import type { StackFrame } from '../../../engine/errors/failure.ts';

/** The engine's rule, as the desk worker needs it: for what it notices itself, and for events of earlier builds. */
export type Digester = ReturnType<typeof createDigester>;

export function createDigester({ namespace }: { namespace: string }) {
  // Events of one earlier build come one after the other: from the tabs that were open when it went.
  let last: { readonly text: string; readonly table: SiteTable } | undefined;

  function read(text: string | undefined): SiteTable {
    if (text === undefined) return emptySiteTable;
    if (last?.text !== text) last = { text, table: parse(text) };
    return last.table;
  }

  return {
    /** The rule's version. */
    rule: DIGEST_RULE,
    /** @param sites the text of the build's `sites.json`, where it has one */
    createDigest: (input: DigestInput, sites?: string): DigestResult =>
      createDigest(input, { namespace, table: read(sites) }),
    /** The qualified name of the function around a place in a bundle: an engine knows what the minifier left of it. */
    findFunction: (frame: StackFrame, sites?: string): string | undefined =>
      read(sites).find(frame)?.function || undefined,
  };
}

/** A table of another version cannot be read: what it was to name is named by its words. */
function parse(text: string): SiteTable {
  try {
    return parseSiteTable(text);
  } catch {
    return emptySiteTable;
  }
}
