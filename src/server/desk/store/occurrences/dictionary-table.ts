import { readPages } from '../read-pages.ts';
import type { StoredFailure } from '../records.ts';
import { insertRows, placeholders, type Sql } from '../sql.ts';
import { packBytes, packJson, unpackBytes, unpackJson } from './pack.ts';

/**
 * Dictionaries by digest. The full records of an incident differ little, so each is packed with a zstd
 * dictionary made from the first one, which saves two thirds of the space. A dictionary changes only
 * together with the records that are packed with it, which cannot be read without it.
 */
type Dictionaries = ReadonlyMap<string, Uint8Array>;

/** Returns the dictionary of each digest, and creates missing ones. */
export async function useDictionaries(sql: Sql, failures: readonly StoredFailure[]): Promise<Dictionaries> {
  const digests = [...new Set(failures.map(({ digest }) => digest))];
  const known = await readDictionaries(sql, digests);
  const made = failures.filter(({ digest }) => !known.has(digest));
  const first = new Map(made.toReversed().map((failure) => [failure.digest, failure]));
  if (first.size === 0) return known;
  await insertRows(
    sql,
    'desk_dictionaries',
    [...first].map(([digest, failure]) => ({ digest, data: packBytes(toDictionary(failure)) })),
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

/**
 * Makes a dictionary with the parts of a record that are about the code, in the record's order, so that long
 * pieces match. Messages and URLs are left out because they differ between visitors.
 */
function toDictionary(failure: StoredFailure): Buffer {
  const { digest, rule, kind, side, origin, build, release, site, route, routeId, componentStack } = failure;
  const errors = failure.errors.map(({ class: name, frames }) => ({ class: name, frames }));
  const code = { digest, rule, kind, side, origin, build, release, errors, site, route, routeId, componentStack };
  return Buffer.from(JSON.stringify({ ...code, resolved: failure.resolved, components: failure.components }));
}

/** Returns full records of a digest, the oldest first. */
export async function readWholes(sql: Sql, digest: string, limit: number): Promise<StoredFailure[]> {
  const rows = await sql.all<PackedWhole>(
    `SELECT w.data, w.shared, d.data AS dictionary FROM desk_wholes w LEFT JOIN desk_dictionaries d ON d.digest = w.digest
      WHERE w.digest = ? ORDER BY w.at, w.occurrence LIMIT ${limit}`,
    [digest],
  );
  // Packed by `packWhole`.
  return rows.map(unpackWhole).filter((whole) => whole !== undefined) as StoredFailure[];
}

/**
 * Replaces a dictionary that was made from a deleted record, because the frames of a browser's report can
 * contain personal data. Call it in a transaction that has locked the incident.
 *
 * @param left the remaining full records, the oldest first
 */
export async function rebuildDictionary(sql: Sql, digest: string, left: readonly StoredFailure[]): Promise<void> {
  const before = (await readDictionaries(sql, [digest])).get(digest);
  const made = left.map(toDictionary);
  const [after] = made;
  if (!before || made.some((one) => one.equals(before))) return;
  if (!after) {
    await sql.run('DELETE FROM desk_dictionaries WHERE digest = ?', [digest]);
    return;
  }
  const query = { table: 'desk_wholes', key: ['occurrence'], where: 'digest = ?', values: [digest], page: PAGE };
  for await (const rows of readPages<PackedRow>(sql, query)) {
    for (const { occurrence, data, shared } of rows) {
      const whole = unpackJson(data, shared === 0 ? undefined : before);
      await (whole === undefined
        ? sql.run('DELETE FROM desk_wholes WHERE digest = ? AND occurrence = ?', [digest, occurrence])
        : sql.run('UPDATE desk_wholes SET data = ?, shared = 1 WHERE digest = ? AND occurrence = ?', [
            packJson(whole, after),
            digest,
            occurrence,
          ]));
    }
  }
  await sql.run('UPDATE desk_dictionaries SET data = ? WHERE digest = ?', [packBytes(after), digest]);
}

/** The number of full records that are read at a time. */
const PAGE = 50;

interface PackedRow {
  readonly occurrence: string;
  readonly data: Uint8Array;
  readonly shared: number;
}

export function packWhole(failure: StoredFailure, dictionaries: Dictionaries): Uint8Array {
  return packJson(failure, dictionaries.get(failure.digest));
}

/** A row of `desk_wholes` with the dictionary of its digest. */
export interface PackedWhole {
  readonly data: Uint8Array;
  /** 1 if it was packed with the dictionary, 0 if without. */
  readonly shared: number;
  readonly dictionary: Uint8Array | null;
}

/** @returns undefined if the data is not readable */
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
