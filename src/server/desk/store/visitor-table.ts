import type { CountedRow } from './settle-states.ts';
import { insertRows, placeholders, type Sql, type SqlValue } from './sql.ts';
import type { Tally } from './tally.ts';
import { addVisitors, countVisitors, EMPTY_SKETCH, uniteSketches, type VisitorSketch } from './visitor-sketch.ts';

/** Counts the visitors of a batch, where some of them are new. */
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
    const sketch = addVisitors(before, visitors);
    return sketch === before ? [] : [{ digest, sketch }];
  });
  await insertRows(
    sql,
    'desk_visitors',
    ['digest', 'sketch'],
    grown.map(({ digest, sketch }): SqlValue[] => [digest, sketch]),
    'ON CONFLICT (digest) DO UPDATE SET sketch = excluded.sketch',
  );
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
  // Both databases name the columns of VALUES so.
  await sql.run(
    `UPDATE desk_incidents SET visitors = v.column2
      FROM (VALUES ${grown.map(() => '(?, CAST(? AS BIGINT))').join(', ')}) AS v WHERE digest = v.column1`,
    grown.flatMap(({ digest, sketch }) => [digest, countVisitors(sketch)]),
  );
}

async function readSketches(sql: Sql, digests: readonly string[]): Promise<ReadonlyMap<string, VisitorSketch>> {
  const rows = await sql.all<{ digest: string; sketch: Uint8Array }>(
    `SELECT digest, sketch FROM desk_visitors WHERE digest IN (${placeholders(digests)})`,
    digests,
  );
  return new Map(rows.map(({ digest, sketch }) => [digest, sketch]));
}

/** Of an incident with all that is merged into it; each visitor counts once. */
export async function recountVisitors(sql: Sql, root: string): Promise<void> {
  const rows = await sql.all<{ sketch: Uint8Array }>(
    `SELECT v.sketch FROM desk_visitors v JOIN desk_incidents i ON i.digest = v.digest
      WHERE i.digest = ? OR i.merged_into = ?`,
    [root, root],
  );
  const united = uniteSketches(rows.map(({ sketch }) => sketch));
  await sql.run('UPDATE desk_incidents SET visitors = ? WHERE digest = ?', [countVisitors(united), root]);
}
