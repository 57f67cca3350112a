import { hash } from 'node:crypto';
import { maskMessage } from '../../engine/errors/digest/mask-message.ts';
import { FIRST_WHOLES, MAX_OCCURRENCES_PER_HOUR, MAX_SPREAD_WHOLES, WHOLES_PER_HOUR } from '../limits.ts';
import type { JournalPosition } from '../segment-files.ts';
import { noteChange } from './change-feed.ts';
import { packWhole, useDictionaries } from './dictionary-table.ts';
import { storeFeedback } from './feedback-table.ts';
import { withoutForgotten } from './forgotten-table.ts';
import { type CountedHour, type NewsRules, noteNews } from './note-news.ts';
import type { StoredFailure } from './records.ts';
import { storeSearch } from './search-table.ts';
import { storeSalts } from './secret-table.ts';
import { type CountedRow, settleStates } from './settle-states.ts';
import { insertRows, placeholders, type Sql, type SqlDialect, type SqlValue } from './sql.ts';
import { type HourTally, type IncidentFacts, type Intake, type Tally, tallyBatch } from './tally.ts';
import { toColumn, toOptionalColumn } from './to-column.ts';
import { storeVisitors } from './visitor-table.ts';

/** What is taken in at once. */
export interface Batch {
  readonly entries: readonly Intake[];
  /** Where it happened: `SENTRY_ENVIRONMENT` of the server, whatever the browser says. */
  readonly environment?: string | undefined;
  /** The journal that it came from, and where that goes on behind it. */
  readonly from?: { readonly run: string; readonly next: JournalPosition };
}

/**
 * Takes a batch in, and with it the place where the journal goes on: both or none, so that each line
 * counts once whatever dies in between.
 */
export async function takeIn(sql: Sql, dialect: SqlDialect, batch: Batch, news: NewsRules): Promise<void> {
  const entries = await withoutForgotten(sql, batch.entries);
  await storeSalts(
    sql,
    dialect,
    entries.flatMap((intake) => (intake.entry === 'salt' ? [intake.salt] : [])),
  );
  const tallies = tallyBatch(entries);
  if (tallies.length > 0) await storeTallies(sql, dialect, tallies, news);
  if (batch.environment) await storeEnvironment(sql, tallies, batch.environment);
  await storeAliases(sql, entries);
  await storeFeedback(
    sql,
    entries.flatMap((intake) => (intake.entry === 'feedback' ? [intake.feedback] : [])),
  );
  if (batch.from) await storePosition(sql, dialect, batch.from);
  if (batch.entries.length > 0) await noteChange(sql);
}

async function storeTallies(sql: Sql, dialect: SqlDialect, tallies: readonly Tally[], news: NewsRules): Promise<void> {
  const counted = await storeIncidents(sql, tallies);
  await storeReleases(sql, tallies);
  const hours = await storeHours(sql, tallies);
  const kept = chooseOccurrences(tallies, hours);
  await storeOccurrences(sql, kept);
  const wholes = await chooseWholes(sql, kept);
  await storeWholes(sql, wholes);
  await storeKept(sql, kept, wholes);
  await thinSpread(sql, wholes);
  await storeVisitors(sql, tallies, counted);
  await storeSearch(
    sql,
    wholes.map(({ failure }) => failure),
  );
  await settleStates(sql, dialect, tallies, counted);
  await noteNews(sql, dialect, { tallies, counted, hours: [...hours.values()] }, news);
}

/** On PostgreSQL the rows are locked by it until all is stored. */
async function storeIncidents(sql: Sql, tallies: readonly Tally[]): Promise<CountedRow[]> {
  const rows = tallies.map(
    ({ digest, facts, firstSide, firstAt, lastAt, first, last, counts, siteLine }): SqlValue[] => [
      digest,
      ...toFactValues(facts),
      'open',
      firstSide,
      firstAt,
      lastAt,
      toColumn(first.release),
      toColumn(first.build),
      toColumn(last.release),
      toColumn(last.build),
      counts.server,
      counts.browser,
      siteLine ?? null,
    ],
  );
  const suffix = `${ON_KNOWN_INCIDENT} RETURNING digest, state, merged_into, merged_count`;
  return insertRows<CountedRow>(sql, 'desk_incidents', INCIDENT_COLUMNS, rows, suffix);
}

/** What messages of one shape have in common: their class, and the words that do not differ from one visit to the next. */
function toShape({ class: name, message }: IncidentFacts): string {
  return hash('sha1', `${name}\n${maskMessage(message)}`, 'base64url').slice(0, 12);
}

/** Columns of `desk_incidents` that a full record tells. */
export const FACT_COLUMNS = [
  'rule',
  'kind',
  'title',
  'class',
  'message',
  'site_path',
  'site_function',
  'site_detail',
  'route',
  'weak',
  'shape',
];

/** In the order of `FACT_COLUMNS`. */
export function toFactValues(facts: IncidentFacts): SqlValue[] {
  return [
    facts.rule,
    facts.kind,
    toColumn(facts.title),
    toColumn(facts.class),
    toColumn(facts.message),
    facts.site ? toColumn(facts.site.path) : null,
    facts.site ? toColumn(facts.site.function) : null,
    facts.site ? toColumn(facts.site.detail) : null,
    toOptionalColumn(facts.route),
    facts.weak ? 1 : 0,
    facts.rule > 0 ? toShape(facts) : null,
  ];
}

const INCIDENT_COLUMNS = [
  'digest',
  ...FACT_COLUMNS,
  'state',
  'first_side',
  'first_at',
  'last_at',
  'first_release',
  'first_build',
  'last_release',
  'last_build',
  'server_count',
  'browser_count',
  'site_line',
];

/** Journals of dead processes come late, so what is taken in may be older than what is known. */
const ON_KNOWN_INCIDENT = `ON CONFLICT (digest) DO UPDATE SET ${[
  ...FACT_COLUMNS.map((name) =>
    exchangeWhere("desk_incidents.rule = 0 AND (excluded.rule > 0 OR desk_incidents.title = '')", name),
  ),
  ...['first_release', 'first_build', 'first_at'].map((name) =>
    exchangeWhere('excluded.first_at < desk_incidents.first_at', name),
  ),
  ...['last_release', 'last_build', 'last_at'].map((name) =>
    exchangeWhere('excluded.last_at >= desk_incidents.last_at', name),
  ),
  'server_count = desk_incidents.server_count + excluded.server_count',
  'browser_count = desk_incidents.browser_count + excluded.browser_count',
  // What is told without a stack leaves the line as it was known.
  exchangeWhere(
    'excluded.site_line IS NOT NULL AND (desk_incidents.site_line IS NULL OR excluded.last_at >= desk_incidents.last_at)',
    'site_line',
  ),
].join(', ')}`;

function exchangeWhere(condition: string, name: string): string {
  return `${name} = CASE WHEN ${condition} THEN excluded.${name} ELSE desk_incidents.${name} END`;
}

async function storeReleases(sql: Sql, tallies: readonly Tally[]): Promise<void> {
  const rows = tallies.flatMap(({ digest, releases }) =>
    releases.map(({ release, build, firstAt, lastAt, count }): SqlValue[] => [
      digest,
      toColumn(release),
      toColumn(build),
      firstAt,
      lastAt,
      count,
    ]),
  );
  await insertRows(
    sql,
    'desk_releases',
    ['digest', 'release', 'build', 'first_at', 'last_at', 'count'],
    rows,
    `ON CONFLICT (digest, release, build) DO UPDATE SET
      first_at = CASE WHEN excluded.first_at < desk_releases.first_at THEN excluded.first_at ELSE desk_releases.first_at END,
      last_at = CASE WHEN excluded.last_at > desk_releases.last_at THEN excluded.last_at ELSE desk_releases.last_at END,
      count = desk_releases.count + excluded.count`,
  );
}

async function storeEnvironment(sql: Sql, tallies: readonly Tally[], environment: string): Promise<void> {
  const rows = tallies.map(({ digest }): SqlValue[] => [digest, toColumn(environment)]);
  await insertRows(sql, 'desk_environments', ['digest', 'environment'], rows, 'ON CONFLICT DO NOTHING');
}

interface HourRow extends CountedHour {
  readonly kept: number;
  readonly wholes: number;
}

const HOUR_COLUMNS = ['digest', 'hour', 'server_count', 'browser_count', 'kept', 'wholes'];

const ON_KNOWN_HOUR = `ON CONFLICT (digest, hour) DO UPDATE SET ${HOUR_COLUMNS.slice(2)
  .map((name) => `${name} = desk_hours.${name} + excluded.${name}`)
  .join(', ')}`;

/** Counts, and answers how much of each hour is kept already. On PostgreSQL the rows are locked by it until all is stored. */
async function storeHours(sql: Sql, tallies: readonly Tally[]): Promise<ReadonlyMap<string, HourRow>> {
  const rows = tallies.flatMap(({ digest, hours }) =>
    hours.map(({ hour, server, browser }): SqlValue[] => [digest, hour, server, browser, 0, 0]),
  );
  const known = await insertRows<HourRow>(
    sql,
    'desk_hours',
    HOUR_COLUMNS,
    rows,
    `${ON_KNOWN_HOUR} RETURNING ${HOUR_COLUMNS.join(', ')}`,
  );
  return new Map(known.map((row) => [`${row.digest} ${row.hour}`, row]));
}

/** What of an hour's tally is kept. */
interface KeptHour {
  readonly tally: Tally;
  readonly hour: HourTally;
  readonly row: HourRow;
  readonly occurrences: HourTally['occurrences'];
}

function chooseOccurrences(tallies: readonly Tally[], known: ReadonlyMap<string, HourRow>): readonly KeptHour[] {
  return tallies.flatMap((tally) =>
    tally.hours.map((hour) => {
      const row = known.get(`${tally.digest} ${hour.hour}`) ?? {
        digest: tally.digest,
        hour: hour.hour,
        server_count: 0,
        browser_count: 0,
        kept: 0,
        wholes: 0,
      };
      const room = Math.max(0, MAX_OCCURRENCES_PER_HOUR - row.kept);
      return { tally, hour, row, occurrences: hour.occurrences.slice(0, room) };
    }),
  );
}

async function storeOccurrences(sql: Sql, kept: readonly KeptHour[]): Promise<void> {
  const rows = kept.flatMap(({ occurrences }) =>
    occurrences.map(
      ({ digest, occurrence, at, side, requestId, traceId, build, release, route, visitor }): SqlValue[] => [
        digest,
        toColumn(occurrence),
        at,
        side,
        toOptionalColumn(requestId),
        toOptionalColumn(traceId),
        toColumn(build),
        toColumn(release),
        toOptionalColumn(route),
        toOptionalColumn(visitor),
      ],
    ),
  );
  await insertRows(
    sql,
    'desk_occurrences',
    ['digest', 'occurrence', 'at', 'side', 'request_id', 'trace_id', 'build', 'release', 'route', 'visitor'],
    rows,
    'ON CONFLICT (digest, occurrence) DO NOTHING',
  );
}

/** Why it is kept. */
export type WholeRole = 'first' | 'spread' | 'latest';

interface ChosenWhole {
  readonly failure: StoredFailure;
  readonly role: WholeRole;
  readonly hour: number;
}

/** The first of an incident, some of each hour, and the latest. */
async function chooseWholes(sql: Sql, kept: readonly KeptHour[]): Promise<readonly ChosenWhole[]> {
  const withWholes = kept.filter(({ tally, occurrences }) =>
    occurrences.some(({ occurrence }) => tally.wholes.has(occurrence)),
  );
  if (withWholes.length === 0) return [];
  const firsts = await countFirsts(
    sql,
    withWholes.map(({ tally }) => tally.digest),
  );
  return withWholes.flatMap(({ tally, occurrences, row }) => {
    const wholes = occurrences.flatMap(({ occurrence }) => tally.wholes.get(occurrence) ?? []);
    const roomFirst = Math.max(0, FIRST_WHOLES - (firsts.get(tally.digest) ?? 0));
    const roomSpread = roomFirst + Math.max(0, WHOLES_PER_HOUR - row.wholes);
    firsts.set(tally.digest, (firsts.get(tally.digest) ?? 0) + Math.min(roomFirst, wholes.length));
    return wholes.flatMap((failure, index): ChosenWhole[] => {
      const role = index < roomFirst ? 'first' : index < roomSpread ? 'spread' : 'latest';
      const isChosen = role !== 'latest' || index === wholes.length - 1;
      return isChosen ? [{ failure, role, hour: row.hour }] : [];
    });
  });
}

async function countFirsts(sql: Sql, digests: readonly string[]): Promise<Map<string, number>> {
  const unique = [...new Set(digests)];
  const rows = await sql.all<{ digest: string; firsts: number }>(
    `SELECT digest, COUNT(*) AS firsts FROM desk_wholes WHERE role = 'first' AND digest IN (${placeholders(unique)}) GROUP BY digest`,
    unique,
  );
  return new Map(rows.map(({ digest, firsts }) => [digest, Number(firsts)]));
}

async function storeWholes(sql: Sql, wholes: readonly ChosenWhole[]): Promise<void> {
  const replaced = wholes.filter(({ role }) => role === 'latest').map(({ failure }) => failure.digest);
  if (replaced.length > 0) {
    await sql.run(`DELETE FROM desk_wholes WHERE role = 'latest' AND digest IN (${placeholders(replaced)})`, replaced);
  }
  const dictionaries = await useDictionaries(
    sql,
    wholes.map(({ failure }) => failure),
  );
  const rows = wholes.map(({ failure, role }): SqlValue[] => [
    failure.digest,
    toColumn(failure.occurrence),
    role,
    failure.at,
    packWhole(failure, dictionaries),
    1,
  ]);
  await insertRows(
    sql,
    'desk_wholes',
    ['digest', 'occurrence', 'role', 'at', 'data', 'shared'],
    rows,
    'ON CONFLICT (digest, occurrence) DO NOTHING',
  );
}

async function storeKept(sql: Sql, kept: readonly KeptHour[], wholes: readonly ChosenWhole[]): Promise<void> {
  const rows = kept
    .filter(({ occurrences }) => occurrences.length > 0)
    .map(({ row, occurrences }): SqlValue[] => {
      const spread = wholes.filter(
        ({ failure, role, hour }) => role === 'spread' && failure.digest === row.digest && hour === row.hour,
      );
      return [row.digest, row.hour, 0, 0, occurrences.length, spread.length];
    });
  await insertRows(sql, 'desk_hours', HOUR_COLUMNS, rows, ON_KNOWN_HOUR);
}

/** Of a long spread, those that stand closest together in time go first. */
async function thinSpread(sql: Sql, wholes: readonly ChosenWhole[]): Promise<void> {
  const digests = [...new Set(wholes.filter(({ role }) => role === 'spread').map(({ failure }) => failure.digest))];
  if (digests.length === 0) return;
  const long = await sql.all<{ digest: string }>(
    `SELECT digest FROM desk_wholes WHERE role = 'spread' AND digest IN (${placeholders(digests)})
      GROUP BY digest HAVING COUNT(*) > ${MAX_SPREAD_WHOLES}`,
    digests,
  );
  for (const { digest } of long) {
    const spread = await sql.all<{ occurrence: string; at: number }>(
      "SELECT occurrence, at FROM desk_wholes WHERE digest = ? AND role = 'spread' ORDER BY at",
      [digest],
    );
    const gone = chooseCrowded(spread, spread.length - MAX_SPREAD_WHOLES);
    await sql.run(`DELETE FROM desk_wholes WHERE digest = ? AND occurrence IN (${placeholders(gone)})`, [
      digest,
      ...gone,
    ]);
  }
}

/** @param spread in the order of time */
export function chooseCrowded(spread: readonly { occurrence: string; at: number }[], count: number): string[] {
  const left = [...spread];
  const gone: string[] = [];
  while (gone.length < count && left.length > 2) {
    let crowded = 1;
    for (let index = 1; index < left.length - 1; index += 1) {
      if (gapAround(left, index) < gapAround(left, crowded)) crowded = index;
    }
    gone.push(...left.splice(crowded, 1).map(({ occurrence }) => occurrence));
  }
  return gone;
}

function gapAround(spread: readonly { at: number }[], index: number): number {
  return (spread[index + 1]?.at ?? 0) - (spread[index - 1]?.at ?? 0);
}

/** An address that was shown, and what it leads to instead of its own digest. */
interface Alias {
  readonly digest: string;
  /** Empty for all occurrences. */
  readonly occurrence: string;
  /** A digest, or a whole address. */
  readonly target: string;
  readonly reason: 'resolved' | 'echo';
  readonly at: number;
}

/** What was shown under another digest than it has now, or is an echo of another, is found all the same. */
async function storeAliases(sql: Sql, entries: readonly Intake[]): Promise<void> {
  const aliases = entries.flatMap((intake) => (intake.entry === 'whole' ? listAliases(intake) : []));
  const rows = aliases.map(({ digest, occurrence, target, reason, at }): SqlValue[] => [
    toColumn(digest),
    toColumn(occurrence),
    toColumn(target),
    reason,
    at,
  ]);
  await insertRows(
    sql,
    'desk_aliases',
    ['digest', 'occurrence', 'target', 'reason', 'at'],
    rows,
    'ON CONFLICT (digest, occurrence) DO NOTHING',
  );
}

function listAliases({ failure, shownAs = failure.digest }: Extract<Intake, { entry: 'whole' }>): Alias[] {
  const { digest, occurrence, at, echoOf } = failure;
  if (echoOf !== undefined) return [{ digest: shownAs, occurrence, target: echoOf, reason: 'echo', at }];
  if (shownAs === digest) return [];
  // For this one alone: others that were shown under those words may be of another kind.
  return [{ digest: shownAs, occurrence, target: digest, reason: 'resolved', at }];
}

async function storePosition(sql: Sql, dialect: SqlDialect, { run, next }: Required<Batch>['from']): Promise<void> {
  await sql.run(
    `INSERT INTO desk_journals (run, segment, taken, at) VALUES (?, ?, ?, ${dialect.now})
      ON CONFLICT (run) DO UPDATE SET segment = excluded.segment, taken = excluded.taken, at = excluded.at`,
    [run, next.segment, next.offset],
  );
}
