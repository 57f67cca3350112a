import { type CallKey, toDigest, toKey } from '../incident-key.ts';
import { readCursor, writeCursor } from '../incidents/cursor.ts';
import { listFamily } from '../incidents/incident-table.ts';
import type { Occurrence, StoredFailure } from '../records.ts';
import { exists, placeholders, readShapes, type Sql } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';
import { type PackedWhole, unpackWhole } from './dictionary-table.ts';

export interface OccurrenceQuery {
  /** The most occurrences on a page. */
  readonly limit: number;
  /** `next` of the previous page. */
  readonly cursor?: string;
  /** Includes full records, which are unpacked one by one. For pages with few occurrences. */
  readonly withWholes?: boolean;
}

interface OccurrencePage {
  /** The latest first. */
  readonly occurrences: readonly Occurrence[];
  /** The cursor of the next page. Undefined at the end. */
  readonly next?: string;
}

/** The order of a cursor over occurrences, for `isCursor`. */
export const OCCURRENCE_ORDER = 'at';

interface OccurrenceRow extends Omit<Occurrence, 'isWhole' | 'whole'>, Partial<PackedWhole> {
  readonly isWhole: number;
}

const COLUMNS = `o.digest, o.occurrence, o.at, o.side, o.request_id AS "requestId", o.trace_id AS "traceId", o.build, o.release, o.route, o.visitor,
  CASE WHEN w.digest IS NULL THEN 0 ELSE 1 END AS "isWhole"`;
const WHOLE_COLUMNS = ', w.data, w.shared, d.data AS dictionary';
const FROM_OCCURRENCES =
  'FROM desk_occurrences o LEFT JOIN desk_wholes w ON w.digest = o.digest AND w.occurrence = o.occurrence';
const WITH_DICTIONARY = 'LEFT JOIN desk_dictionaries d ON d.digest = w.digest';

/** @throws RangeError if the cursor is not valid */
export async function listOccurrences(
  { reader, home }: StoreContext,
  key: CallKey,
  { limit, cursor, withWholes = false }: OccurrenceQuery,
): Promise<OccurrencePage> {
  const digests = await listFamily(reader, toKey(key, home));
  const from = cursor === undefined ? { key: Number.MAX_SAFE_INTEGER, id: '' } : readCursor(cursor, OCCURRENCE_ORDER);
  const rows = await readShapes<OccurrenceRow>(
    reader,
    `SELECT ${COLUMNS}${withWholes ? WHOLE_COLUMNS : ''} ${FROM_OCCURRENCES} ${withWholes ? WITH_DICTIONARY : ''}
      WHERE o.digest IN (${placeholders(digests)}) AND o.at <= ? AND (o.at < ? OR o.occurrence > ?)
      ORDER BY o.at DESC, o.occurrence LIMIT ?`,
    [...digests, from.key, from.key, from.id, limit + 1],
  );
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return {
    occurrences: page.map(toOccurrence),
    ...(last && { next: writeCursor({ order: OCCURRENCE_ORDER, key: last.at, id: last.occurrence }) }),
  };
}

/** Reads an occurrence, which can be stored under any of the digests. */
export async function readOccurrence(
  sql: Sql,
  digests: readonly string[],
  occurrence: string,
): Promise<Occurrence | undefined> {
  const rows = await readShapes<OccurrenceRow>(
    sql,
    `SELECT ${COLUMNS}${WHOLE_COLUMNS} ${FROM_OCCURRENCES} ${WITH_DICTIONARY} WHERE o.occurrence = ? AND o.digest IN (${placeholders(digests)}) LIMIT 1`,
    [occurrence, ...digests],
  );
  return rows[0] && toOccurrence(rows[0]);
}

/** The neighbours of an occurrence in time. */
export interface Neighbours {
  readonly newer?: OccurrenceKey;
  readonly older?: OccurrenceKey;
  /** The full record closest in time, or the latest one if the occurrence itself is not stored. */
  readonly nearestWhole?: OccurrenceKey;
}

interface OccurrenceKey {
  /** The key of the incident that it was stored under. */
  readonly digest: string;
  readonly occurrence: string;
  readonly at: number;
}

/** Finds the neighbours of an occurrence, across all digests of its incident. */
export async function findNeighbours(
  { reader: sql, home }: StoreContext,
  key: CallKey,
  occurrence: string,
): Promise<Neighbours> {
  const digests = await listFamily(sql, toKey(key, home));
  const own = await readOccurrence(sql, digests, occurrence);
  const nearestWhole = await findNearestWhole(sql, digests, own?.at ?? Number.MAX_SAFE_INTEGER);
  if (!own) return { ...(nearestWhole && { nearestWhole }) };
  const older = await findBeside(sql, digests, own, 'older');
  const newer = await findBeside(sql, digests, own, 'newer');
  return { ...(older && { older }), ...(newer && { newer }), ...(nearestWhole && { nearestWhole }) };
}

/** The order of `listOccurrences`, and the reverse. */
const STEPS = {
  older: 'o.at <= ? AND (o.at < ? OR o.occurrence > ?) ORDER BY o.at DESC, o.occurrence',
  newer: 'o.at >= ? AND (o.at > ? OR o.occurrence < ?) ORDER BY o.at, o.occurrence DESC',
};

async function findBeside(
  sql: Sql,
  digests: readonly string[],
  { at, occurrence }: OccurrenceKey,
  step: keyof typeof STEPS,
): Promise<OccurrenceKey | undefined> {
  const [row] = await sql.all<OccurrenceKey>(
    `SELECT o.digest, o.occurrence, o.at FROM desk_occurrences o
      WHERE o.digest IN (${placeholders(digests)}) AND ${STEPS[step]} LIMIT 1`,
    [...digests, at, at, occurrence],
  );
  return row;
}

async function findNearestWhole(sql: Sql, digests: readonly string[], at: number): Promise<OccurrenceKey | undefined> {
  const some = placeholders(digests);
  const columns = 'digest, occurrence, at';
  const near = await sql.all<OccurrenceKey>(
    `SELECT * FROM (SELECT ${columns} FROM desk_wholes WHERE digest IN (${some}) AND at <= ? ORDER BY at DESC LIMIT 1) AS before_it
      UNION ALL SELECT * FROM (SELECT ${columns} FROM desk_wholes WHERE digest IN (${some}) AND at > ? ORDER BY at LIMIT 1) AS after_it`,
    [...digests, at, ...digests, at],
  );
  return near.sort((left, right) => Math.abs(left.at - at) - Math.abs(right.at - at))[0];
}

/** The most occurrences whose visitors are checked. */
const MAX_COUNTED = 10_000;

interface VisitorQuery {
  /** Occurrences at or after `since` and before `until` (ms since 1970). */
  readonly since: number;
  readonly until: number;
  /** All hashes of one visitor. */
  readonly known: readonly string[];
}

/** Reports whether any stored occurrence is from another visitor. */
export async function hasOtherVisitor(
  sql: Sql,
  digest: string,
  { since, until, known }: VisitorQuery,
): Promise<boolean> {
  const digests = await listFamily(sql, digest);
  return exists(
    sql,
    `SELECT 1 FROM (SELECT o.visitor FROM desk_occurrences o
      WHERE o.digest IN (${placeholders(digests)}) AND o.at >= ? AND o.at < ? ORDER BY o.at DESC LIMIT ${MAX_COUNTED}) AS seen
      WHERE visitor NOT IN (${placeholders(known)})`,
    [...digests, since, until, ...known],
  );
}

/** Finds the latest occurrence of a request or trace, which can have several. */
export async function findByRequest(sql: Sql, id: string): Promise<OccurrenceKey | undefined> {
  for (const column of ['request_id', 'trace_id']) {
    const [row] = await sql.all<OccurrenceKey>(
      `SELECT digest, occurrence, at FROM desk_occurrences
        WHERE ${column} IS NOT NULL AND substr(${column}, 1, 12) = ? AND ${column} = ? ORDER BY at DESC LIMIT 1`,
      [id.slice(0, 12), id],
    );
    if (row) return row;
  }
  return undefined;
}

function toOccurrence({ isWhole, data, shared = 0, dictionary = null, ...row }: OccurrenceRow): Occurrence {
  const whole = data && unpackWhole({ data, shared, dictionary });
  return {
    ...row,
    digest: toDigest(row.digest),
    isWhole: isWhole === 1,
    // Packed by `store-occurrences.ts`, from a line that `parseJournalLine` accepted.
    ...(whole !== undefined && { whole: whole as StoredFailure }),
  };
}

export const queries = { listOccurrences, findNeighbours };
