import { hash } from 'node:crypto';
import { Hour } from '../../../shared/units.ts';
import { maskMessage } from '../../engine/errors/digest/mask-message.ts';
import type { JournalPosition } from '../ingest/segment-files.ts';
import { FIRST_WHOLES, MAX_OCCURRENCES_PER_HOUR, NEWEST_WHOLES, WHOLES_PER_HOUR } from '../limits.ts';
import { noteChange } from './change-feed.ts';
import { packWhole, useDictionaries } from './dictionary-table.ts';
import { withoutUnfoundedEchoes } from './echo-table.ts';
import { storeFeedback } from './feedback-table.ts';
import { withoutForgotten } from './forgotten-table.ts';
import { splitKey, toAliasTarget, toKeyIn } from './incident-key.ts';
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
  /** Where it happened: `SENTRY_ENVIRONMENT` of the server. The default is the environment that the store was opened for. */
  readonly environment?: string | undefined;
  /** Leaves out what only helps to find and to notify: the search text, the number of visitors, notifications. */
  readonly withoutExtras?: boolean;
  /** The journal that it came from, and where that goes on behind it. */
  readonly from?: { readonly run: string; readonly next: JournalPosition };
}

/**
 * Takes a batch in, and with it the place where the journal goes on: both or none, so that each line
 * counts once whatever dies in between.
 */
export async function takeIn(
  sql: Sql,
  dialect: SqlDialect,
  { environment, home, ...batch }: Batch & { readonly environment: string; readonly home: string },
  news: NewsRules,
): Promise<void> {
  const toKey = (digest: string) => toKeyIn(digest, environment, home);
  await storeSalts(
    sql,
    dialect,
    batch.entries.flatMap((intake) => (intake.entry === 'salt' ? [intake.salt] : [])),
  );
  const scoped = scopeEntries(await withoutForgotten(sql, batch.entries), toKey);
  const entries = await withoutUnfoundedEchoes(sql, scoped);
  const tallies = tallyBatch(entries);
  const aliases = await listNewAliases(sql, entries);
  await beginInEnvironment(sql, tallies, { environment, home });
  if (tallies.length > 0) await storeTallies(sql, dialect, tallies, batch.withoutExtras ? undefined : news);
  await storeAliases(sql, aliases);
  await storeFeedback(
    sql,
    entries.flatMap((intake) => (intake.entry === 'feedback' ? [intake.feedback] : [])),
    toKey,
  );
  if (batch.from) await storePosition(sql, dialect, batch.from);
  if (batch.entries.length > 0) await noteChange(sql);
}

/** Replaces the digests of a batch by the keys of their incidents. */
function scopeEntries(entries: readonly Intake[], toKey: (digest: string) => string): readonly Intake[] {
  return entries.map((intake) => scopeEntry(intake, toKey));
}

function scopeEntry(intake: Intake, toKey: (digest: string) => string): Intake {
  switch (intake.entry) {
    case 'whole': {
      const { failure, shownAs } = intake;
      const { echoOf } = failure;
      const scoped = {
        ...failure,
        digest: toKey(failure.digest),
        ...(echoOf !== undefined && { echoOf: toEchoTarget(echoOf, toKey) }),
      };
      return { ...intake, failure: scoped, ...(shownAs !== undefined && { shownAs: toKey(shownAs) }) };
    }
    case 'thin':
      return { ...intake, thin: { ...intake.thin, digest: toKey(intake.thin.digest) } };
    case 'count':
      return { ...intake, record: { ...intake.record, digest: toKey(intake.record.digest) } };
    case 'feedback':
    case 'salt':
      return intake;
  }
}

function toEchoTarget(address: string, toKey: (digest: string) => string): string {
  const [digest = '', occurrence] = address.split('-');
  return toAliasTarget(toKey(digest), occurrence);
}

/**
 * Records the environment of incidents that are new in it. Before schema 9 all environments shared one
 * incident: its state is kept in the environments that had seen it by then, and it is new in all others.
 */
async function beginInEnvironment(
  sql: Sql,
  tallies: readonly Tally[],
  { environment, home }: { readonly environment: string; readonly home: string },
): Promise<void> {
  const begun = await insertRows<{ digest: string }>(
    sql,
    'desk_environments',
    ['digest', 'environment'],
    tallies.map(({ digest }) => [digest, environment]),
    'ON CONFLICT DO NOTHING RETURNING digest',
  );
  if (begun.length === 0) return;
  const digests = begun.map(({ digest }) => splitKey(digest).digest);
  const some = placeholders(digests);
  if (environment === home) {
    await sql.run(
      `UPDATE desk_incidents SET state = 'open', resolved_in = NULL, ignored_until = NULL, ignored_growth = NULL,
        untold = 'new' WHERE digest IN (${some})
        AND EXISTS (SELECT 1 FROM desk_environments e WHERE e.digest = desk_incidents.digest AND e.environment <> ?)`,
      [...digests, environment],
    );
    return;
  }
  await sql.run(
    `INSERT INTO desk_incidents (digest, environment, server_count, browser_count, untold, ${KNOWN_COLUMNS})
      SELECT i.digest || '@' || e.environment, e.environment, 0, 0, NULL, ${KNOWN_COLUMNS}
      FROM desk_incidents i JOIN desk_environments e ON e.digest = i.digest
      WHERE i.digest IN (${some}) AND e.environment = ? ON CONFLICT DO NOTHING`,
    [...digests, environment],
  );
}

/** @param news undefined to leave out the extras */
async function storeTallies(
  sql: Sql,
  dialect: SqlDialect,
  tallies: readonly Tally[],
  news: NewsRules | undefined,
): Promise<void> {
  const counted = await storeIncidents(sql, tallies);
  await storeReleases(sql, tallies);
  const hours = await storeHours(sql, tallies);
  const kept = chooseOccurrences(tallies, hours);
  await storeOccurrences(sql, kept);
  const wholes = await chooseWholes(sql, kept);
  await storeWholes(sql, wholes);
  await storeKept(sql, kept, wholes);
  await dropOlder(sql, wholes);
  if (news) {
    await storeVisitors(sql, tallies, counted);
    await storeSearch(
      sql,
      wholes.map(({ failure }) => failure),
    );
  }
  await settleStates(sql, dialect, tallies, counted);
  if (news) await noteNews(sql, dialect, { tallies, counted, hours: [...hours.values()] }, news);
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
      splitKey(digest).environment ?? null,
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
  'environment',
];

/** The facts and the state of an incident in one environment. */
const KNOWN_COLUMNS = [
  ...FACT_COLUMNS,
  ...['state', 'state_at', 'state_by', 'resolved_in', 'ignored_until', 'ignored_growth', 'assignee'],
  ...['first_side', 'first_at', 'last_at', 'first_release', 'first_build', 'last_release', 'last_build', 'site_line'],
].join(', ');

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

/**
 * Why an occurrence is kept in full: it is among the first of its incident, a sample of its hour, among
 * the newest, or a visitor wrote about it. Browsers have their own share, because anyone can send events
 * from a browser and must not displace what servers saw.
 */
export type WholeRole = 'first' | 'spread' | 'latest' | 'browser' | 'browser-latest' | 'said';

interface ChosenWhole {
  readonly failure: StoredFailure;
  readonly role: WholeRole;
  readonly hour: number;
}

const SPREAD_ROLES = { server: 'spread', browser: 'browser' } as const;
const LATEST_ROLES = { server: 'latest', browser: 'browser-latest' } as const;

async function chooseWholes(sql: Sql, kept: readonly KeptHour[]): Promise<readonly ChosenWhole[]> {
  const withWholes = kept.filter(({ tally, occurrences }) =>
    occurrences.some(({ occurrence }) => tally.wholes.has(occurrence)),
  );
  if (withWholes.length === 0) return [];
  const digests = [...new Set(withWholes.map(({ tally }) => tally.digest))];
  const firsts = await countFirsts(sql, digests);
  const ofBrowsers = await countOfBrowsers(sql, digests, Math.min(...withWholes.map(({ hour }) => hour.hour)));
  return withWholes.flatMap(({ tally, occurrences, row }) => {
    const wholes = occurrences.flatMap(({ occurrence }) => tally.wholes.get(occurrence) ?? []);
    const chosen: ChosenWhole[] = [];
    let roomFirst = Math.max(0, FIRST_WHOLES - (firsts.get(tally.digest) ?? 0));
    const room = {
      server: WHOLES_PER_HOUR - row.wholes,
      browser: WHOLES_PER_HOUR - (ofBrowsers.get(`${tally.digest} ${row.hour}`) ?? 0),
    };
    for (const failure of wholes) {
      const { side } = failure;
      const role = roomFirst > 0 ? 'first' : room[side] > 0 ? SPREAD_ROLES[side] : LATEST_ROLES[side];
      if (roomFirst > 0) roomFirst -= 1;
      else room[side] -= 1;
      chosen.push({ failure, role, hour: row.hour });
    }
    firsts.set(tally.digest, FIRST_WHOLES - roomFirst);
    return (['latest', 'browser-latest'] as const).reduce<readonly ChosenWhole[]>(keepNewest, chosen);
  });
}

/** Drops occurrences of a role, except the newest. */
function keepNewest(chosen: readonly ChosenWhole[], role: WholeRole): readonly ChosenWhole[] {
  const newest = new Set(chosen.filter((one) => one.role === role).slice(-NEWEST_WHOLES));
  return chosen.filter((one) => one.role !== role || newest.has(one));
}

function isLatest(role: WholeRole): boolean {
  return role === 'latest' || role === 'browser-latest';
}

/** Counts the full occurrences of browsers by digest and hour; `desk_hours` counts those of servers. */
async function countOfBrowsers(
  sql: Sql,
  digests: readonly string[],
  since: number,
): Promise<ReadonlyMap<string, number>> {
  const rows = await sql.all<{ digest: string; hour: number; count: number }>(
    `SELECT digest, (at / ${Hour}) * ${Hour} AS hour, COUNT(*) AS count FROM desk_wholes
      WHERE role = 'browser' AND digest IN (${placeholders(digests)}) AND at >= ? GROUP BY digest, at / ${Hour}`,
    [...digests, since],
  );
  return new Map(rows.map(({ digest, hour, count }) => [`${digest} ${hour}`, count]));
}

async function countFirsts(sql: Sql, digests: readonly string[]): Promise<Map<string, number>> {
  const rows = await sql.all<{ digest: string; firsts: number }>(
    `SELECT digest, COUNT(*) AS firsts FROM desk_wholes WHERE role = 'first' AND digest IN (${placeholders(digests)}) GROUP BY digest`,
    digests,
  );
  return new Map(rows.map(({ digest, firsts }) => [digest, Number(firsts)]));
}

async function storeWholes(sql: Sql, wholes: readonly ChosenWhole[]): Promise<void> {
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

/** Deletes occurrences that are no longer among the newest. */
async function dropOlder(sql: Sql, wholes: readonly ChosenWhole[]): Promise<void> {
  const grown = new Set(
    wholes.filter(({ role }) => isLatest(role)).map(({ failure, role }) => `${role} ${failure.digest}`),
  );
  for (const one of grown) {
    const [role = '', digest = ''] = one.split(' ');
    await sql.run(
      `DELETE FROM desk_wholes WHERE digest = ? AND role = ? AND occurrence NOT IN
        (SELECT n.occurrence FROM desk_wholes n WHERE n.digest = ? AND n.role = ? ORDER BY n.at DESC, n.occurrence LIMIT ${NEWEST_WHOLES})`,
      [digest, role, digest, role],
    );
  }
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

/**
 * Lists the aliases of a batch: for failures that were shown under another digest than they have now, and
 * for echoes. An address that already has a stored occurrence gets no alias, because browsers choose the
 * ids of their events and could take over the addresses of others.
 */
async function listNewAliases(sql: Sql, entries: readonly Intake[]): Promise<readonly Alias[]> {
  const aliases = entries.flatMap((intake) => (intake.entry === 'whole' ? listAliases(intake) : []));
  if (aliases.length === 0) return [];
  const taken = await sql.all<Pick<Alias, 'digest' | 'occurrence'>>(
    `SELECT digest, occurrence FROM desk_occurrences WHERE (digest, occurrence) IN (VALUES ${aliases.map(() => '(?, ?)').join(', ')})`,
    aliases.flatMap(({ digest, occurrence }) => [digest, occurrence]),
  );
  const names = new Set(taken.map(({ digest, occurrence }) => `${digest} ${occurrence}`));
  return aliases.filter(({ digest, occurrence }) => !names.has(`${digest} ${occurrence}`));
}

function listAliases({ failure, shownAs = failure.digest }: Extract<Intake, { entry: 'whole' }>): Alias[] {
  const { digest, occurrence, at, echoOf } = failure;
  if (echoOf !== undefined) return [{ digest: shownAs, occurrence, target: echoOf, reason: 'echo', at }];
  if (shownAs === digest) return [];
  // For this one alone: others that were shown under those words may be of another kind.
  return [{ digest: shownAs, occurrence, target: digest, reason: 'resolved', at }];
}

async function storeAliases(sql: Sql, aliases: readonly Alias[]): Promise<void> {
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

async function storePosition(sql: Sql, dialect: SqlDialect, { run, next }: Required<Batch>['from']): Promise<void> {
  await sql.run(
    `INSERT INTO desk_journals (run, segment, taken, at) VALUES (?, ?, ?, ${dialect.now})
      ON CONFLICT (run) DO UPDATE SET segment = excluded.segment, taken = excluded.taken, at = excluded.at`,
    [run, next.segment, next.offset],
  );
}
