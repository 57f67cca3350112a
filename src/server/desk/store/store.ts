import type { IncidentState } from '../../../shared/desk/shapes.ts';
import { type Address, parseAddress } from '../address.ts';
import type { DeskLog } from '../desk-log.ts';
import type { Feedback, Salt } from '../ingest/journal-entry.ts';
import type { JournalPosition } from '../ingest/segment-files.ts';
import { FEEDBACK_AGE } from '../limits.ts';
import * as builds from './build-table.ts';
import { noteChange, readChanges } from './change-feed.ts';
import * as changes from './change-incident.ts';
import * as changeLog from './change-log.ts';
import * as claims from './claim-notice.ts';
import { readAwaited } from './echo-table.ts';
import { deleteFeedback, listFeedback } from './feedback-table.ts';
import * as forget from './forget.ts';
import { type Forgot, type Forgotten, forgetVisitor } from './forget-visitor.ts';
import { splitKey, toCallKey, toDigest, toKey, toKeyIn } from './incident-key.ts';
import { listFamily } from './incident-table.ts';
import * as list from './list-incidents.ts';
import * as lookUp from './look-up.ts';
import { type MergeOutcome, mergeIncidents, takeApart } from './merge.ts';
import { hasSchema, migrate, readMeta, SCHEMA_VERSION } from './migrations.ts';
import type { NewsRules } from './note-news.ts';
import * as notices from './notice-table.ts';
import * as occurrences from './occurrence-table.ts';
import type { Found, Incident, IncidentHour, IncidentRelease, Run } from './records.ts';
import { type RetentionOptions, type RetentionReport, retain } from './retention.ts';
import * as runs from './run-table.ts';
import { prepareSearch } from './search-table.ts';
import * as secrets from './secret-table.ts';
import * as sessions from './session-table.ts';
import { endIgnores } from './settle-states.ts';
import { QueryFailedError, type Sql, type SqlDriver, StoreAwayError } from './sql.ts';
import { type Batch, takeIn } from './take-in.ts';
import type { Intake } from './tally.ts';

/** What `SqlStore` offers. */
export type Store = Pick<SqlStore, keyof SqlStore>;

export interface StoreOptions {
  /** The version of the digest's rule, which the store remembers. */
  readonly rule: number;
  /** `SENTRY_ENVIRONMENT` of the process: where that happens which it takes in. */
  readonly environment: string;
  /** Told of what the database does not allow, and the desk goes on without. */
  readonly log?: DeskLog;
  /** What is told, and whom; nobody where it is left out. */
  readonly news?: NewsRules;
}

const TOLD_TO_NOBODY: NewsRules = { after: 1, targets: [] };

/** @throws StoreAwayError */
export async function openStore(driver: SqlDriver, { rule, environment, log, news }: StoreOptions): Promise<Store> {
  try {
    await migrate(driver, { rule, environment });
    await prepareSearch(driver, log);
    return await createStore(driver, { environment, news });
  } catch (error) {
    await driver.close();
    throw error;
  }
}

async function createStore(
  driver: SqlDriver,
  { environment, news = TOLD_TO_NOBODY }: Pick<StoreOptions, 'environment' | 'news'>,
): Promise<Store> {
  const { home } = await builds.readEnvironments(driver);
  return new SqlStore(driver, { own: environment, home, news });
}

/**
 * Opens one that a server has made; it is written to where its schema is an older one alone.
 *
 * @returns undefined where the database has no desk
 * @throws StoreAwayError
 */
export async function openMadeStore(driver: SqlDriver, options: StoreOptions): Promise<Store | undefined> {
  if (!(await hasSchema(driver, driver.dialect))) return undefined;
  const { schema } = await readMeta(driver);
  return Number(schema) === SCHEMA_VERSION ? createStore(driver, options) : openStore(driver, options);
}

/** Ends a transaction that was only a trial. */
class TriedError extends Error {}

/**
 * Where incidents are kept. One set of statements for SQLite and PostgreSQL, and one contract test.
 * Each method rejects with a `StoreAwayError` if the database cannot be used at the moment, and with a
 * `QueryFailedError` if only this query failed.
 */
class SqlStore {
  /** Other replicas write to it too. */
  readonly isShared: boolean;
  readonly #driver: SqlDriver;
  readonly #news: NewsRules;
  /** The environment of this process, and the one whose incidents have plain digests. */
  readonly #own: string;
  readonly #home: string;

  constructor(driver: SqlDriver, { own, home, news }: { own: string; home: string; news: NewsRules }) {
    this.#driver = driver;
    this.#own = own;
    this.#home = home;
    this.#news = news;
    this.isShared = driver.isShared;
  }

  #key(callKey: string): string {
    return toKey(callKey, this.#home);
  }

  /** Two environments may notify the same address: each has its own limits and pauses there. */
  #target<Target extends notices.NoticeTarget>(target: Target): Target {
    return { ...target, id: toKeyIn(target.id, this.#own, this.#home) };
  }

  /** Spells out the environment of a key, the home environment too. */
  #spellOut(key: string | undefined): string | undefined {
    if (key === undefined) return undefined;
    const { digest, environment = this.#home } = splitKey(key);
    return toCallKey(digest, environment);
  }

  #takeIn(sql: Sql, batch: Batch): Promise<void> {
    const { environment = this.#own } = batch;
    const news = { ...this.#news, targets: this.#news.targets.map((target) => this.#target(target)) };
    return takeIn(sql, this.#driver.dialect, { ...batch, environment, home: this.#home }, news);
  }

  takeIn(batch: Batch): Promise<void> {
    return this.#driver.transaction((sql) => this.#takeIn(sql, batch));
  }

  /** Tries what `takeIn` would do with a batch without its extras, and leaves everything as it was. */
  async tryTakeIn(batch: Pick<Batch, 'entries' | 'environment'>): Promise<void> {
    try {
      await this.#driver.transaction(async (sql) => {
        await this.#takeIn(sql, { ...batch, withoutExtras: true });
        throw new TriedError();
      });
    } catch (error) {
      if (!(error instanceof TriedError)) throw error;
    }
  }

  /** Where the journal of a run goes on; its beginning where nothing of it was taken in. */
  async readPosition(run: string): Promise<JournalPosition> {
    const [row] = await this.#driver.all<{ segment: number; taken: number }>(
      'SELECT segment, taken FROM desk_journals WHERE run = ?',
      [run],
    );
    return row ? { segment: row.segment, offset: row.taken } : { segment: 0, offset: 0 };
  }

  async forgetJournal(run: string): Promise<void> {
    await this.#driver.run('DELETE FROM desk_journals WHERE run = ?', [run]);
  }

  /** @param environment where to look; by default everywhere, first in the environment that the store was opened for */
  async find(address: Address, environment?: string): Promise<Found | undefined> {
    const environments = environment === undefined ? await this.#everywhere() : [environment];
    return lookUp.find(this.#driver.reader, address, { home: this.#home, environments });
  }

  /** This process's first. */
  async #everywhere(): Promise<string[]> {
    const { names } = await builds.readEnvironments(this.#driver.reader);
    return [...new Set([this.#own, ...names])];
  }

  isKnown(key: string): Promise<boolean> {
    return lookUp.isKnown(this.#driver.reader, this.#key(key));
  }

  /** The failure of the last day in the environment of this process. @param name the second half of its address */
  async findEvent(name: string): Promise<Required<Address> | undefined> {
    const found = await lookUp.findByName(this.#driver.reader, this.#driver.dialect, name, FEEDBACK_AGE);
    const own = found.find(({ digest: key }) => (splitKey(key).environment ?? this.#home) === this.#own);
    return own && { digest: toDigest(own.digest), occurrence: own.occurrence };
  }

  /**
   * Whether an echo of a server's failure of the last hour can be stored: there is none yet.
   *
   * @returns undefined if the store does not have that failure
   */
  async readAwaited(text: string): Promise<boolean | undefined> {
    const address = parseAddress(text);
    if (address?.occurrence === undefined) return undefined;
    const key = toKeyIn(address.digest, this.#own, this.#home);
    return readAwaited(this.#driver.reader, this.#driver.dialect, key, address.occurrence);
  }

  async resolveQuery(text: string): Promise<lookUp.Resolved | undefined> {
    return lookUp.resolveQuery(this.#driver.reader, text, { home: this.#home, environments: await this.#everywhere() });
  }

  listIncidents(query: list.IncidentQuery): Promise<list.IncidentPage> {
    return list.listIncidents(this.#driver.reader, this.#driver.dialect, this.#scope(query));
  }

  countStates(filter: list.IncidentFilter): Promise<Readonly<Record<IncidentState, number>>> {
    return list.countStates(this.#driver.reader, this.#driver.dialect, this.#scope(filter));
  }

  /** Rows of the home environment name no environment. */
  #scope<Filter extends list.IncidentFilter>({ environment = this.#own, ...filter }: Filter): Filter {
    return { ...filter, ...(environment !== this.#home && { environment }) } as Filter;
  }

  listOccurrences(key: string, query: occurrences.OccurrenceQuery): Promise<occurrences.OccurrencePage> {
    return occurrences.listOccurrences(this.#driver.reader, this.#key(key), query);
  }

  findNeighbours(key: string, occurrence: string): Promise<occurrences.Neighbours> {
    return occurrences.findNeighbours(this.#driver.reader, this.#key(key), occurrence);
  }

  listHours(key: string): Promise<IncidentHour[]> {
    return lookUp.listHours(this.#driver.reader, this.#key(key));
  }

  listReleases(key: string): Promise<IncidentRelease[]> {
    return lookUp.listReleases(this.#driver.reader, this.#key(key));
  }

  async listEnvironments(): Promise<readonly string[]> {
    return (await builds.readEnvironments(this.#driver.reader)).names;
  }

  /** The environments in which a digest is known: names, sorted. */
  async listKnownIn(digest: string): Promise<string[]> {
    const { names } = await builds.readEnvironments(this.#driver.reader);
    const keys = names.map((environment) => toKeyIn(digest, environment, this.#home));
    const known = await lookUp.listKnown(this.#driver.reader, keys);
    return names.filter((_name, index) => known.has(keys[index] ?? ''));
  }

  listFeedback(key: string, limit: number): Promise<Feedback[]> {
    return listFeedback(this.#driver.reader, this.#key(key), limit);
  }

  listSimilar(key: string, limit: number): Promise<Incident[]> {
    return lookUp.listSimilar(this.#driver.reader, this.#key(key), limit);
  }

  /** What people and the store itself changed, the latest first, also before a merge. */
  async listChanges(key: string, limit: number): Promise<changeLog.LoggedChange[]> {
    return changeLog.listChanges(this.#driver.reader, await listFamily(this.#driver.reader, this.#key(key)), limit);
  }

  async listNotes(key: string, limit: number): Promise<changeLog.Note[]> {
    return changeLog.listNotes(this.#driver.reader, await listFamily(this.#driver.reader, this.#key(key)), limit);
  }

  /** Grows with each change that is seen on the desk. */
  readChanges(): Promise<number> {
    return readChanges(this.#driver.quick);
  }

  changeIncident(key: string, change: changes.IncidentChange, by: changes.ChangeBy): Promise<changes.ChangeOutcome> {
    return this.#change((sql) => changes.changeIncident(sql, this.#driver.dialect, this.#key(key), change, by));
  }

  /** Opens those that were ignored until a time that is over. */
  async endIgnores(): Promise<void> {
    await this.#driver.transaction(async (sql) => {
      if ((await endIgnores(sql, this.#driver.dialect)) > 0) await noteChange(sql);
    });
  }

  mergeIncidents(key: string, into: string, by: changes.ChangeBy): Promise<MergeOutcome> {
    return this.#change((sql) => mergeIncidents(sql, this.#driver.dialect, this.#key(key), this.#key(into), by));
  }

  takeApart(key: string, by: changes.ChangeBy): Promise<MergeOutcome> {
    return this.#change((sql) => takeApart(sql, this.#driver.dialect, this.#key(key), by));
  }

  /** @returns undefined where there is no such incident */
  addNote(key: string, text: string, author: string): Promise<changeLog.Note | undefined> {
    return this.#change(async (sql) => {
      const incident = await changes.lockIncident(sql, this.#driver.dialect, this.#key(key));
      return incident && changeLog.storeNote(sql, this.#driver.dialect, { digest: incident.key, author, text });
    });
  }

  /** @returns false where it is gone already */
  deleteNote(id: number, author: string): Promise<boolean> {
    return this.#change(async (sql) => {
      const digest = await changeLog.deleteNote(sql, id);
      if (digest === undefined) return false;
      await changeLog.storeChange(sql, this.#driver.dialect, { digest, author, action: 'note-deleted', detail: {} });
      return true;
    });
  }

  /** @param key of the incident whose log records it. @returns false if it is already deleted */
  deleteFeedback(key: string, id: string, author: string): Promise<boolean> {
    return this.#change(async (sql) => {
      if (!(await deleteFeedback(sql, id))) return false;
      const change = { digest: this.#key(key), author, action: 'feedback-deleted', detail: {} } as const;
      await changeLog.storeChange(sql, this.#driver.dialect, change);
      return true;
    });
  }

  deleteIncident(key: string, by: changes.ChangeBy): Promise<forget.DeleteOutcome> {
    return this.#change((sql) => forget.deleteIncident(sql, this.#driver.dialect, this.#key(key), by));
  }

  /** Who deleted the incident of a digest, and when. @param environment where to look; by default everywhere */
  async readDeletion(digest: string, environment?: string): Promise<changeLog.Deletion | undefined> {
    const environments = environment === undefined ? await this.#everywhere() : [environment];
    const keys = environments.map((of) => toKeyIn(digest, of, this.#home));
    return changeLog.readDeletion(this.#driver.reader, keys);
  }

  deleteOccurrence(key: string, occurrence: string, author: string): Promise<boolean> {
    const of = { digest: this.#key(key), occurrence };
    return this.#change((sql) => forget.deleteOccurrence(sql, this.#driver.dialect, of, author));
  }

  forgetVisitor(whom: Forgotten): Promise<Forgot> {
    return forgetVisitor(this.#driver, whom);
  }

  /** A change that is shown somewhere: whoever looks at it hears of it. */
  #change<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#driver.transaction(async (sql) => {
      const outcome = await work(sql);
      await noteChange(sql);
      return outcome;
    });
  }

  createSession(idHash: string, grant: sessions.Grant, lifeMs: number): Promise<void> {
    return sessions.createSession(this.#driver.quick, this.#driver.dialect, idHash, grant, lifeMs);
  }

  readSession(idHash: string): Promise<sessions.Session | undefined> {
    return sessions.readSession(this.#driver.quick, this.#driver.dialect, idHash);
  }

  endSession(idHash: string): Promise<boolean> {
    return sessions.endSession(this.#driver.quick, idHash);
  }

  keepSessions(fingerprints: readonly string[]): Promise<number> {
    return this.#driver.transaction((sql) => sessions.keepSessions(sql, fingerprints));
  }

  createLink(idHash: string, grant: sessions.Grant): Promise<void> {
    return sessions.createLink(this.#driver.quick, this.#driver.dialect, idHash, grant);
  }

  takeLink(idHash: string): Promise<sessions.Grant | undefined> {
    return sessions.takeLink(this.#driver.quick, this.#driver.dialect, idHash);
  }

  countAttempts(bySender: sessions.AttemptCounts['bySender'], inTotal: number): Promise<sessions.AttemptCounts> {
    return sessions.countAttempts(this.#driver.quick, this.#driver.dialect, bySender, inTotal);
  }

  /** @returns whether the build's files are here already */
  useBuild(build: { id: string; release: string }): Promise<boolean> {
    return builds.useBuild(this.#driver, build, this.#own);
  }

  /** Builds that were started in an environment. */
  listDeployments(environment: string): Promise<builds.KnownBuild[]> {
    return builds.listDeployments(this.#driver.reader, environment, this.#home);
  }

  storeBuildFile(build: string, file: builds.BuildFile): Promise<void> {
    return builds.storeBuildFile(this.#driver, build, file);
  }

  setPublished(build: string): Promise<void> {
    return builds.setPublished(this.#driver, build);
  }

  readBuildFile(build: string, path: string): Promise<Uint8Array | undefined> {
    return builds.readBuildFile(this.#driver, build, path);
  }

  readAsset(path: string): Promise<Uint8Array | undefined> {
    return builds.readAsset(this.#driver.reader, path);
  }

  listBuilds(): Promise<builds.KnownBuild[]> {
    return builds.listBuilds(this.#driver.reader);
  }

  storeBeat(run: runs.RunStart, beat: runs.StoredBeat): Promise<void> {
    return runs.storeBeat(this.#driver.quick, this.#driver.dialect, run, beat);
  }

  storeLateBeat(late: runs.LateBeat): Promise<void> {
    return runs.storeLateBeat(this.#driver.quick, late);
  }

  storeEnd(run: string): Promise<void> {
    return runs.storeEnd(this.#driver.quick, this.#driver.dialect, run);
  }

  /** `SENTRY_ENVIRONMENT` of a process; undefined if it is not known. */
  readEnvironment(run: string): Promise<string | undefined> {
    return runs.readEnvironment(this.#driver, run);
  }

  listSilent(forMs: number): Promise<string[]> {
    return runs.listSilent(this.#driver, this.#driver.dialect, forMs);
  }

  /** @returns undefined where the run ended, or is not known */
  readUnended(run: string): Promise<runs.DeadRun | undefined> {
    return runs.readUnended(this.#driver, run);
  }

  /**
   * Writes down that a run died, and its incident with it.
   *
   * @returns false where it has ended by now, or somebody else told
   */
  tellDead(run: string, incident: Intake): Promise<boolean> {
    return this.#driver.transaction(async (sql) => {
      if (!(await runs.claimDead(sql, run))) return false;
      const environment = await runs.readEnvironment(sql, run);
      await this.#takeIn(sql, { entries: [incident], environment });
      return true;
    });
  }

  listRuns(limit: number): Promise<Run[]> {
    return runs.listRuns(this.#driver.reader, limit);
  }

  /** @returns undefined where nothing is due for it */
  async claimNotice(of: notices.NoticeTarget): Promise<claims.ClaimedNotice | undefined> {
    const target = this.#target(of);
    if (!(await claims.hasWaiting(this.#driver, target))) return undefined;
    const claimed = await this.#driver.transaction((sql) => claims.claimNotice(sql, this.#driver.dialect, target));
    if (!claimed?.summed) return claimed;
    const notices = claimed.summed.notices.map((notice) => ({ ...notice, digest: this.#spellOut(notice.digest) }));
    return { ...claimed, summed: { ...claimed.summed, notices } };
  }

  settleNotice(notice: notices.Notice, outcome: claims.NoticeOutcome): Promise<void> {
    return this.#change((sql) => claims.settleNotice(sql, this.#driver.dialect, notice, outcome));
  }

  storeTestNotice(
    target: notices.NoticeTarget,
    sent: { readonly uid: string; readonly ok: boolean; readonly words: string },
  ): Promise<void> {
    return this.#change((sql) => notices.storeTest(sql, this.#driver.dialect, this.#target(target), sent));
  }

  /** What waits and what was told. @param limit of each (a count) */
  listNotices(limit: number): Promise<notices.NoticeLists> {
    return notices.listNotices(this.#driver.reader, limit);
  }

  readMeta(): Promise<Readonly<Record<string, string>>> {
    return readMeta(this.#driver.reader);
  }

  /** All salts, the common ones first. @param offers become the common salts of days that have none */
  readSalts(offers: readonly Salt[]): Promise<Salt[]> {
    return this.#driver.transaction((sql) => secrets.readSalts(sql, this.#driver.dialect, offers));
  }

  listSecrets(): Promise<secrets.Secret[]> {
    return secrets.listSecrets(this.#driver);
  }

  retain(options: RetentionOptions): Promise<RetentionReport> {
    return retain(this.#driver, options);
  }

  usedBytes(): Promise<number> {
    return this.#driver.usedBytes();
  }

  /** Looks whether it can be written to. @throws StoreAwayError */
  async check(): Promise<void> {
    await this.#driver.check();
    // A full disk can be read from.
    const kept = await this.#driver.quick
      .run("UPDATE desk_meta SET value = value WHERE name = 'schema'")
      .catch((error: unknown) => {
        if (error instanceof QueryFailedError && error.isTableMissing) return 0;
        throw error;
      });
    if (kept === 0) {
      throw new StoreAwayError("The desk's tables were deleted while the database was open.", { isGone: true });
    }
  }

  close(): Promise<void> {
    return this.#driver.close();
  }
}
