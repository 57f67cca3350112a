import { randomBytes } from 'node:crypto';
import type { CountedRow } from '../ingest/settle-states.ts';
import type { Tally } from '../ingest/tally.ts';
import { readPages } from '../read-pages.ts';
import { insertRows, placeholders, type Sql } from '../sql.ts';
import {
  addVisitors,
  countVisitors,
  EMPTY_SKETCH,
  exchangeHashes,
  hashVisitor,
  uniteSketches,
  type VisitorSketch,
} from './visitor-sketch.ts';

/** Adds the visitors of a batch to the sketches of their incidents, and updates the numbers of visitors. */
export async function storeVisitors(
  sql: Sql,
  tallies: readonly Tally[],
  counted: readonly CountedRow[],
): Promise<void> {
  const touched = tallies.filter(({ visitors }) => visitors.size > 0);
  if (touched.length === 0) return;
  const known = await readSketches(
    sql,
    touched.map(({ digest }) => digest),
  );
  const grown = touched.flatMap(({ digest, visitors }) => {
    const before = known.get(digest) ?? EMPTY_SKETCH;
    const sketch = addVisitors(before, visitors.keys());
    return sketch === before ? [] : [{ digest, sketch }];
  });
  await insertRows(sql, 'desk_visitors', grown, 'ON CONFLICT (digest) DO UPDATE SET sketch = excluded.sketch');
  await storeCounts(sql, grown);
  const family = new Map(
    counted.map((row) => [row.digest, row.merged_into ?? (row.merged_count > 0 ? row.digest : '')]),
  );
  const roots = new Set(grown.map(({ digest }) => family.get(digest) ?? '').filter(Boolean));
  for (const root of roots) await recountVisitors(sql, root);
}

async function storeCounts(
  sql: Sql,
  grown: readonly { readonly digest: string; readonly sketch: VisitorSketch }[],
): Promise<void> {
  if (grown.length === 0) return;
  // Both databases name the columns of VALUES `column1`, `column2`.
  await sql.run(
    `UPDATE desk_incidents SET visitors = v.column2
      FROM (VALUES ${grown.map(() => '(?, CAST(? AS BIGINT))').join(', ')}) AS v WHERE digest = v.column1`,
    grown.flatMap(({ digest, sketch }) => [digest, countVisitors(sketch)]),
  );
}

/** Maps hashes to the random ones that replace them. */
type Exchange = ReadonlyMap<number, number>;

/**
 * Creates random hashes that replace the hashes of visitors, the same in all sketches. The numbers of
 * visitors do not change, and the visitors can no longer be found.
 */
export function createExchange(visitors: readonly string[]): Exchange {
  return new Map(visitors.map((visitor) => [hashVisitor(visitor), randomBytes(4).readUInt32BE()]));
}

/** Returns the digests whose sketches list any of these visitors. */
export async function listDigestsOf(sql: Sql, exchange: Exchange): Promise<string[]> {
  const digests: string[] = [];
  if (exchange.size === 0) return digests;
  const query = { table: 'desk_visitors', key: ['digest'], page: PAGE };
  for await (const rows of readPages<{ digest: string; sketch: VisitorSketch }>(sql, query)) {
    const touched = rows.filter(({ sketch }) => exchangeHashes(sketch, exchange) !== sketch);
    digests.push(...touched.map(({ digest }) => digest));
  }
  return digests;
}

/** Replaces hashes in an incident's sketch, in a transaction that has locked the incident. */
export async function exchangeVisitors(sql: Sql, digest: string, exchange: Exchange): Promise<void> {
  const before = (await readSketches(sql, [digest])).get(digest);
  const after = before && exchangeHashes(before, exchange);
  if (after && after !== before) {
    await sql.run('UPDATE desk_visitors SET sketch = ? WHERE digest = ?', [after, digest]);
  }
}

/** The number of sketches that are read at a time. */
const PAGE = 1000;

async function readSketches(sql: Sql, digests: readonly string[]): Promise<ReadonlyMap<string, VisitorSketch>> {
  const rows = await sql.all<{ digest: string; sketch: Uint8Array }>(
    `SELECT digest, sketch FROM desk_visitors WHERE digest IN (${placeholders(digests)})`,
    digests,
  );
  return new Map(rows.map(({ digest, sketch }) => [digest, sketch]));
}

/** Recounts the visitors of an incident and those merged into it. Each visitor counts once. */
export async function recountVisitors(sql: Sql, root: string): Promise<void> {
  const rows = await sql.all<{ sketch: Uint8Array }>(
    `SELECT v.sketch FROM desk_visitors v JOIN desk_incidents i ON i.digest = v.digest
      WHERE i.digest = ? OR i.merged_into = ?`,
    [root, root],
  );
  const united = uniteSketches(rows.map(({ sketch }) => sketch));
  await sql.run('UPDATE desk_incidents SET visitors = ? WHERE digest = ?', [countVisitors(united), root]);
}
