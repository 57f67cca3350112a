import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { KeyAddress } from './alias-table.ts';
import { parseCursor, writeCursor } from './cursor.ts';
import type { IncidentKey } from './incident-key.ts';
import { lockIncident, toFactColumns } from './incident-table.ts';
import type { Occurrence, StoredFailure } from './records.ts';
import { rebuildSearch } from './search-text.ts';
import { assignments, type Columns, inParts, placeholders, readShapes, type Sql, type SqlDriver } from './sql.ts';
import type { StoreContext } from './store-context.ts';

interface OccurrencePageQuery {
  /** The most occurrences on a page. */
  readonly limit: number;
  /** `next` of the previous page. */
  readonly cursor?: string | undefined;
}

interface OccurrencePage {
  /** The latest first. */
  readonly occurrences: readonly Occurrence[];
  /** The cursor of the next page. Undefined at the end. */
  readonly next?: string;
}

/** The order of a cursor over occurrences, for `parseCursor`. */
export const OCCURRENCE_ORDER = 'at';

interface OccurrenceRow extends Omit<Occurrence, 'isFull' | 'full'> {
  readonly isFull: number;
  readonly payload?: Uint8Array;
}

const COLUMNS = `key, occurrence, at, side, request_id AS "requestId", trace_id AS "traceId", build, release, route, visitor,
  CASE WHEN payload IS NULL THEN 0 ELSE 1 END AS "isFull"`;

export function packPayload(failure: StoredFailure): Uint8Array {
  return zstdCompressSync(Buffer.from(JSON.stringify(failure)));
}

/** @returns undefined if the bytes are corrupt */
function unpackPayload(bytes: Uint8Array): StoredFailure | undefined {
  try {
    const text = zstdDecompressSync(bytes).toString('utf8');
    return JSON.parse(text) as StoredFailure; // from `packPayload`
  } catch {
    return undefined;
  }
}

function toOccurrence({ isFull, payload, ...row }: OccurrenceRow): Occurrence {
  return { ...row, isFull: isFull === 1, full: payload && unpackPayload(payload) };
}

/** The order of `listOccurrences`, and the reverse. */
const STEPS = {
  older: 'at <= ? AND (at < ? OR occurrence > ?) ORDER BY at DESC, occurrence',
  newer: 'at >= ? AND (at > ? OR occurrence < ?) ORDER BY at, occurrence DESC',
};

export type OccurrenceTable = ReturnType<typeof createOccurrenceTable>;

export function createOccurrenceTable({ reader: sql }: StoreContext) {
  return {
    async listOccurrences(key: IncidentKey, { limit, cursor = '' }: OccurrencePageQuery): Promise<OccurrencePage> {
      const from = parseCursor(cursor, OCCURRENCE_ORDER) ?? { value: Number.MAX_SAFE_INTEGER, id: '' };
      const rows = await readShapes<OccurrenceRow>(
        sql,
        `SELECT ${COLUMNS} FROM desk_occurrences WHERE key = ? AND ${STEPS.older} LIMIT ?`,
        [key, from.value, from.value, from.id, limit + 1],
      );
      const page = rows.slice(0, limit);
      const last = rows.length > limit ? page.at(-1) : undefined;
      return {
        occurrences: page.map(toOccurrence),
        next: last && writeCursor(OCCURRENCE_ORDER, { value: last.at, id: last.occurrence }),
      };
    },
  };
}

/** Finds the next or previous occurrence of an incident in time. */
export async function findBeside(
  sql: Sql,
  { key, at, occurrence }: Occurrence,
  step: keyof typeof STEPS,
): Promise<string | undefined> {
  const [row] = await sql.all<{ occurrence: string }>(
    `SELECT occurrence FROM desk_occurrences WHERE key = ? AND ${STEPS[step]} LIMIT 1`,
    [key, at, at, occurrence],
  );
  return row?.occurrence;
}

/** Finds the full record that is closest to a time, by default the latest. */
export async function findNearestFull(
  sql: Sql,
  key: IncidentKey,
  at = Number.MAX_SAFE_INTEGER,
): Promise<Occurrence | undefined> {
  const from = 'SELECT occurrence, at FROM desk_occurrences WHERE key = ? AND payload IS NOT NULL';
  const near = await sql.all<{ occurrence: string; at: number }>(
    `SELECT * FROM (${from} AND at <= ? ORDER BY at DESC LIMIT 1) AS before_it
      UNION ALL SELECT * FROM (${from} AND at > ? ORDER BY at LIMIT 1) AS after_it`,
    [key, at, key, at],
  );
  const [nearest] = near.sort((left, right) => Math.abs(left.at - at) - Math.abs(right.at - at));
  return nearest && readOccurrence(sql, key, nearest.occurrence);
}

export async function readOccurrence(sql: Sql, key: IncidentKey, occurrence: string): Promise<Occurrence | undefined> {
  const [row] = await readShapes<OccurrenceRow>(
    sql,
    `SELECT ${COLUMNS}, payload FROM desk_occurrences WHERE key = ? AND occurrence = ?`,
    [key, occurrence],
  );
  return row && toOccurrence(row);
}

/** Finds the latest occurrence of a request or trace, which can have several. */
export async function findByRequest(
  sql: Sql,
  id: string,
): Promise<{ readonly key: IncidentKey; readonly occurrence: string } | undefined> {
  for (const column of ['request_id', 'trace_id']) {
    const [row] = await sql.all<{ key: IncidentKey; occurrence: string }>(
      `SELECT key, occurrence FROM desk_occurrences WHERE ${column} = ? ORDER BY at DESC LIMIT 1`,
      [id],
    );
    if (row) return row;
  }
  return undefined;
}

/** The most full records that are read to rebuild an incident, more than the search text has room for. */
const MAX_REBUILT = 50;

/** Works on occurrences in short transactions, each of which has locked one incident. */
export async function forEachIncident(
  driver: SqlDriver,
  rows: readonly KeyAddress[],
  work: (sql: Sql, key: IncidentKey, occurrences: readonly string[]) => Promise<void>,
): Promise<void> {
  for (const [key, group] of Map.groupBy(rows, (row) => row.key)) {
    for (const part of inParts(group.map(({ occurrence }) => occurrence))) {
      await driver.transaction(async (sql) => {
        await lockIncident(sql, key);
        await work(sql, key, part);
      });
    }
  }
}

/**
 * Deletes occurrences, and rebuilds the texts that their incident has from them, in a transaction that has locked the
 * incident. Counts stay.
 */
export async function deleteOccurrences(sql: Sql, key: IncidentKey, occurrences: readonly string[]): Promise<void> {
  await sql.run(`DELETE FROM desk_occurrences WHERE key = ? AND occurrence IN (${placeholders(occurrences)})`, [
    key,
    ...occurrences,
  ]);
  const rows = await sql.all<{ payload: Uint8Array }>(
    `SELECT payload FROM desk_occurrences WHERE key = ? AND payload IS NOT NULL ORDER BY at, occurrence LIMIT ${MAX_REBUILT}`,
    [key],
  );
  const left = rows.flatMap(({ payload }) => unpackPayload(payload) ?? []);
  const [oldest] = left;
  // Without a record, texts are emptied rather than masked, because masking does not recognize names.
  const facts: Columns = oldest ? toFactColumns(oldest) : {};
  const changes = oldest ? assignments(facts) : "described = 0, title = kind, message = ''";
  await sql.run(
    `UPDATE desk_incidents SET ${changes},
        visitors = (SELECT COUNT(DISTINCT o.visitor) FROM desk_occurrences o WHERE o.key = desk_incidents.key)
      WHERE key = ?`,
    [...Object.values(facts), key],
  );
  await rebuildSearch(sql, key, left);
}
