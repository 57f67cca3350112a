import type { LogPosition } from '../../../segmented-log.ts';
import { toAliasTarget, toKeyIn } from '../incident-key.ts';
import { noteChange } from '../incidents/change-feed.ts';
import { storeSearch } from '../incidents/search-table.ts';
import type { NotificationRules } from '../notifications/notification-rules.ts';
import { toScopedRules } from '../notifications/notification-table.ts';
import { queueNotifications } from '../notifications/queue-notifications.ts';
import { withoutUnfoundedEchoes } from '../occurrences/echo-table.ts';
import { storeFeedback } from '../occurrences/feedback-table.ts';
import { claimDead, readEnvironment } from '../servers/process-table.ts';
import type { Sql } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';
import { withoutForgotten } from '../visitors/forgotten-table.ts';
import { storeSalts } from '../visitors/secret-table.ts';
import { storeVisitors } from '../visitors/visitor-table.ts';
import { settleStates } from './settle-states.ts';
import { listNewAliases, storeAliases } from './store-aliases.ts';
import { beginInEnvironment, storeIncidents, storeReleases } from './store-incidents.ts';
import { storeHoursAndOccurrences } from './store-occurrences.ts';
import { type Intake, type Tally, tallyBatch } from './tally.ts';

/** Entries of a journal that are stored together. */
interface Batch {
  readonly entries: readonly Intake[];
  /** The server's `SENTRY_ENVIRONMENT`. The default is the environment that the store was opened for. */
  readonly environment?: string | undefined;
  /** Leaves out search texts, numbers of visitors and notifications. */
  readonly withoutExtras?: boolean;
  /** The journal that the batch is from, and the position after it. */
  readonly from?: { readonly run: string; readonly next: LogPosition };
}

/**
 * Stores a batch together with its journal position in one transaction, so that each line counts once even
 * if the process dies.
 */
export function ingest(context: StoreContext, batch: Batch): Promise<void> {
  return context.driver.transaction((sql) => storeBatch(sql, context, batch));
}

/** Rolls back a transaction that was only a trial. */
class TriedError extends Error {}

/** Tries to store a batch without its extras, and rolls it back. */
export async function tryIngest(context: StoreContext, batch: Pick<Batch, 'entries' | 'environment'>): Promise<void> {
  try {
    await context.driver.transaction(async (sql) => {
      await storeBatch(sql, context, { ...batch, withoutExtras: true });
      throw new TriedError();
    });
  } catch (error) {
    if (!(error instanceof TriedError)) throw error;
  }
}

/**
 * Records the death of a process, together with its incident.
 *
 * @returns false if the process has ended cleanly, or another process recorded its death
 */
export function tellDead(context: StoreContext, run: string, incident: Intake): Promise<boolean> {
  return context.driver.transaction(async (sql) => {
    if (!(await claimDead(sql, run))) return false;
    const environment = await readEnvironment({ driver: sql }, run);
    await storeBatch(sql, context, { entries: [incident], environment });
    return true;
  });
}

/** Returns the position up to which a journal is stored. */
export async function readPosition({ driver }: StoreContext, run: string): Promise<LogPosition> {
  const [row] = await driver.all<LogPosition>('SELECT segment, taken AS "offset" FROM desk_journals WHERE run = ?', [
    run,
  ]);
  return row ?? { segment: 0, offset: 0 };
}

export async function forgetJournal({ driver }: StoreContext, run: string): Promise<void> {
  await driver.run('DELETE FROM desk_journals WHERE run = ?', [run]);
}

async function storeBatch(sql: Sql, context: StoreContext, batch: Batch): Promise<void> {
  const { home } = context;
  const { environment = context.environment } = batch;
  const toKey = (digest: string) => toKeyIn(digest, environment, home);
  await storeSalts(
    sql,
    batch.entries.flatMap((intake) => (intake.entry === 'salt' ? [intake.salt] : [])),
  );
  const scoped = scopeEntries(await withoutForgotten(sql, batch.entries), toKey);
  const entries = await withoutUnfoundedEchoes(sql, scoped);
  const tallies = tallyBatch(entries);
  const aliases = await listNewAliases(sql, entries);
  await beginInEnvironment(sql, tallies, { environment, home });
  if (tallies.length > 0) await storeTallies(sql, tallies, batch.withoutExtras ? undefined : toScopedRules(context));
  await storeAliases(sql, aliases);
  await storeFeedback(
    sql,
    entries.flatMap((intake) => (intake.entry === 'feedback' ? [intake.feedback] : [])),
    toKey,
  );
  if (batch.from) await storePosition(sql, batch.from);
  if (batch.entries.length > 0) await noteChange(sql);
}

/** Replaces the digests of a batch with the keys of their incidents. */
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

/** @param news undefined to leave out the extras */
async function storeTallies(sql: Sql, tallies: readonly Tally[], news: NotificationRules | undefined): Promise<void> {
  const counted = await storeIncidents(sql, tallies);
  await storeReleases(sql, tallies);
  const { hours, full } = await storeHoursAndOccurrences(sql, tallies);
  if (news) {
    await storeVisitors(sql, tallies, counted);
    await storeSearch(sql, full);
  }
  await settleStates(sql, tallies, counted);
  if (news) await queueNotifications(sql, { tallies, counted, hours }, news);
}

async function storePosition(sql: Sql, { run, next }: Required<Batch>['from']): Promise<void> {
  await sql.run(
    `INSERT INTO desk_journals (run, segment, taken, at) VALUES (?, ?, ?, ${sql.dialect.now})
      ON CONFLICT (run) DO UPDATE SET segment = excluded.segment, taken = excluded.taken, at = excluded.at`,
    [run, next.segment, next.offset],
  );
}

export const queries = { ingest, tryIngest, tellDead, readPosition, forgetJournal };
