import { packBytes, packJson, unpackBytes, unpackJson } from './pack.ts';
import type { StoredFailure } from './records.ts';
import { insertRows, placeholders, type Sql, type SqlValue } from './sql.ts';

/**
 * Whole occurrences of an incident differ in little, so each is packed against what the first one
 * says of the code: a third of the room. The dictionary holds nothing of a visitor, and never changes,
 * because what was packed with it could be read no more.
 */
export type Dictionaries = ReadonlyMap<string, Uint8Array>;

/** Of each digest among these, made where there is none yet. */
export async function useDictionaries(sql: Sql, failures: readonly StoredFailure[]): Promise<Dictionaries> {
  const digests = [...new Set(failures.map(({ digest }) => digest))];
  const known = await readDictionaries(sql, digests);
  const made = failures.filter(({ digest }) => !known.has(digest));
  const first = new Map(made.toReversed().map((failure) => [failure.digest, failure]));
  if (first.size === 0) return known;
  await insertRows(
    sql,
    'desk_dictionaries',
    ['digest', 'data'],
    [...first].map(([digest, failure]): SqlValue[] => [digest, packBytes(toDictionary(failure))]),
    'ON CONFLICT (digest) DO NOTHING',
  );
  return readDictionaries(sql, digests);
}

async function readDictionaries(sql: Sql, digests: readonly string[]): Promise<Dictionaries> {
  if (digests.length === 0) return new Map();
  const rows = await sql.all<{ digest: string; data: Uint8Array }>(
    `SELECT digest, data FROM desk_dictionaries WHERE digest IN (${placeholders(digests)})`,
    digests,
  );
  return new Map(rows.map(({ digest, data }) => [digest, unpackBytes(data)]));
}

/** In the order of the whole, so that long pieces of it are alike. Messages and URLs may tell of a visitor. */
function toDictionary(failure: StoredFailure): Buffer {
  const { digest, rule, kind, side, origin, build, release, site, route, routeId, componentStack } = failure;
  const errors = failure.errors.map(({ class: name, frames }) => ({ class: name, frames }));
  const code = { digest, rule, kind, side, origin, build, release, errors, site, route, routeId, componentStack };
  return Buffer.from(JSON.stringify({ ...code, resolved: failure.resolved, components: failure.components }));
}

export function packWhole(failure: StoredFailure, dictionaries: Dictionaries): Uint8Array {
  return packJson(failure, dictionaries.get(failure.digest));
}

/** A row of `desk_wholes` with the dictionary of its digest. */
export interface PackedWhole {
  readonly data: Uint8Array;
  /** 0 where it was packed by itself. */
  readonly shared: number;
  readonly dictionary: Uint8Array | null;
}

/** @returns undefined where it cannot be read */
export function unpackWhole({ data, shared, dictionary }: PackedWhole): unknown {
  if (shared === 0) return unpackJson(data);
  const bytes = dictionary === null ? undefined : unpackOrNone(dictionary);
  return bytes && unpackJson(data, bytes);
}

function unpackOrNone(bytes: Uint8Array): Uint8Array | undefined {
  try {
    return unpackBytes(bytes);
  } catch {
    return undefined;
  }
}
