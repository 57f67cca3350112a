import type { IncidentState } from '../../../shared/desk/shapes.ts';
import type { Address } from '../address.ts';
import type { DeskLog } from '../desk-log.ts';
import type { Feedback, Salt } from '../journal-entry.ts';
import type { JournalPosition } from '../segment-files.ts';
import * as builds from './build-table.ts';
import { noteChange, readChanges } from './change-feed.ts';
import * as changes from './change-incident.ts';
import * as changeLog from './change-log.ts';
import * as claims from './claim-notice.ts';
import { deleteFeedback, listFeedback } from './feedback-table.ts';
import * as forget from './forget.ts';
import { type Forgot, type Forgotten, forgetVisitor } from './forget-visitor.ts';
import { listFamily } from './incident-table.ts';
import * as list from './list-incidents.ts';
import * as lookUp from './look-up.ts';
import { type MergeOutcome, mergeIncidents, takeApart } from './merge.ts';
import { hasSchema, migrate, readMeta, SCHEMA_VERSION } from './migrations.ts';
import type { NewsRules } from './note-news.ts';
import * as notices from './notice-table.ts';
import * as occurrences from './occurrence-table.ts';
import type { Found, Incident, IncidentHour, IncidentRelease, Run } from './records.ts';
import { type RetentionOptions, retain } from './retention.ts';
import * as runs from './run-table.ts';
import { prepareSearch } from './search-table.ts';
import * as secrets from './secret-table.ts';
import * as sessions from './session-table.ts';
import { endIgnores } from './settle-states.ts';
import { type Sql, type SqlDriver, StoreAwayError } from './sql.ts';
import { type Batch, takeIn } from './take-in.ts';
import type { Intake } from './tally.ts';

/**
 * Where incidents are kept. One set of statements for SQLite and PostgreSQL, and one contract test.
 * Each method rejects with a `StoreAwayError` where the database cannot be used at the moment.
 */
export interface Store {
  /** Other replicas write to it too. */
  readonly isShared: boolean;
  takeIn(batch: Batch): Promise<void>;
  /** Tries what `takeIn` would do with one entry, and leaves all as it was. */
  wouldTake(intake: Intake): Promise<boolean>;
  /** Where the journal of a run goes on; its beginning where nothing of it was taken in. */
  readPosition(run: string): Promise<JournalPosition>;
  forgetJournal(run: string): Promise<void>;

  find(address: Address): Promise<Found | undefined>;
  isKnown(digest: string): Promise<boolean>;
  resolveQuery(text: string): Promise<lookUp.Resolved | undefined>;
  listIncidents(query: list.IncidentQuery): Promise<list.IncidentPage>;
  countStates(filter: list.IncidentFilter): Promise<Readonly<Record<IncidentState, number>>>;
  listOccurrences(digest: string, query: occurrences.OccurrenceQuery): Promise<occurrences.OccurrencePage>;
  findNeighbours(digest: string, occurrence: string): Promise<occurrences.Neighbours>;
  listHours(digest: string): Promise<IncidentHour[]>;
  listReleases(digest: string): Promise<IncidentRelease[]>;
  listEnvironments(): Promise<string[]>;
  listSimilar(digest: string, limit: number): Promise<Incident[]>;
  listFeedback(digest: string, limit: number): Promise<Feedback[]>;
  /** What people and the store itself changed, the latest first, also before a merge. */
  listChanges(digest: string, limit: number): Promise<changeLog.LoggedChange[]>;
  listNotes(digest: string, limit: number): Promise<changeLog.Note[]>;
  /** Grows with each change that is seen on the desk. */
  readChanges(): Promise<number>;

  changeIncident(digest: string, change: changes.IncidentChange, by: changes.ChangeBy): Promise<changes.ChangeOutcome>;
  /** Opens those that were ignored until a time that is over. */
  endIgnores(): Promise<void>;
  mergeIncidents(digest: string, into: string, by: changes.ChangeBy): Promise<MergeOutcome>;
  takeApart(digest: string, by: changes.ChangeBy): Promise<MergeOutcome>;
  /** @returns undefined where there is no such incident */
  addNote(digest: string, text: string, author: string): Promise<changeLog.Note | undefined>;
  /** @returns false where it is gone already */
  deleteNote(id: number, author: string): Promise<boolean>;
  /** @param digest the incident whose log tells of it. @returns false where it is gone already */
  deleteFeedback(digest: string, id: string, author: string): Promise<boolean>;
  deleteIncident(digest: string, expected?: number): Promise<forget.DeleteOutcome>;
  deleteOccurrence(address: Required<Address>, author: string): Promise<boolean>;
  forgetVisitor(whom: Forgotten): Promise<Forgot>;

  createSession(idHash: string, grant: sessions.Grant, lifeMs: number): Promise<void>;
  readSession(idHash: string): Promise<sessions.Session | undefined>;
  endSession(idHash: string): Promise<boolean>;
  keepSessions(fingerprints: readonly string[]): Promise<number>;
  createLink(idHash: string, grant: sessions.Grant): Promise<void>;
  takeLink(idHash: string): Promise<sessions.Grant | undefined>;
  countAttempt(sender: string): Promise<sessions.AttemptCounts>;
  forgiveAttempt(sender: string): Promise<void>;

  /** @returns whether the build's files are here already */
  useBuild(build: { id: string; release: string }): Promise<boolean>;
  storeBuildFile(build: string, file: builds.BuildFile): Promise<void>;
  setPublished(build: string): Promise<void>;
  readBuildFile(build: string, path: string): Promise<Uint8Array | undefined>;
  readAsset(path: string): Promise<Uint8Array | undefined>;
  listBuilds(): Promise<{ id: string; release: string; firstAt: number }[]>;

  storeBeat(run: runs.RunStart, beat: runs.StoredBeat): Promise<void>;
  storeLateBeat(late: runs.LateBeat): Promise<void>;
  storeEnd(run: string): Promise<void>;
  listSilent(forMs: number): Promise<string[]>;
  /** @returns undefined where the run ended, or is not known */
  readUnended(run: string): Promise<runs.DeadRun | undefined>;
  /**
   * Writes down that a run died, and its incident with it.
   *
   * @returns false where it has ended by now, or somebody else told
   */
  tellDead(run: string, incident: Intake): Promise<boolean>;
  listRuns(limit: number): Promise<Run[]>;

  /** @returns undefined where nothing is due for it */
  claimNotice(target: notices.NoticeTarget): Promise<claims.ClaimedNotice | undefined>;
  settleNotice(notice: notices.Notice, outcome: claims.NoticeOutcome): Promise<void>;
  storeTestNotice(
    target: notices.NoticeTarget,
    sent: { readonly uid: string; readonly ok: boolean; readonly words: string },
  ): Promise<void>;
  /** What waits and what was told. @param limit of each (a count) */
  listNotices(limit: number): Promise<notices.NoticeLists>;

  readMeta(): Promise<Readonly<Record<string, string>>>;
  /** All salts, the common ones first. @param offers become the common salts of days that have none */
  readSalts(offers: readonly Salt[]): Promise<Salt[]>;
  listSecrets(): Promise<secrets.Secret[]>;
  retain(options: RetentionOptions): Promise<void>;
  usedBytes(): Promise<number>;
  /** Looks whether it can be written to. @throws StoreAwayError */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface StoreOptions {
  /** The version of the digest's rule, which the store remembers. */
  readonly rule: number;
  /** Told of what the database does not allow, and the desk goes on without. */
  readonly log?: DeskLog;
  /** What is told, and whom; nobody where it is left out. */
  readonly news?: NewsRules;
}

const TOLD_TO_NOBODY: NewsRules = { after: 1, targets: [] };

/** @throws StoreAwayError */
export async function openStore(driver: SqlDriver, { rule, log, news }: StoreOptions): Promise<Store> {
  try {
    await migrate(driver, { rule });
    await prepareSearch(driver, log);
  } catch (error) {
    await driver.close();
    throw error;
  }
  return new SqlStore(driver, news ?? TOLD_TO_NOBODY);
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
  return Number(schema) === SCHEMA_VERSION
    ? new SqlStore(driver, options.news ?? TOLD_TO_NOBODY)
    : openStore(driver, options);
}

/** Ends a transaction that was only a trial. */
class TriedError extends Error {}

class SqlStore implements Store {
  readonly isShared: boolean;
  readonly #driver: SqlDriver;
  readonly #news: NewsRules;

  constructor(driver: SqlDriver, news: NewsRules) {
    this.#driver = driver;
    this.#news = news;
    this.isShared = driver.isShared;
  }

  takeIn(batch: Batch): Promise<void> {
    return this.#driver.transaction((sql) => takeIn(sql, this.#driver.dialect, batch, this.#news));
  }

  async wouldTake(intake: Intake): Promise<boolean> {
    try {
      await this.#driver.transaction(async (sql) => {
        await takeIn(sql, this.#driver.dialect, { entries: [intake] }, this.#news);
        throw new TriedError();
      });
    } catch (error) {
      if (error instanceof StoreAwayError) throw error;
      return error instanceof TriedError;
    }
    return false;
  }

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

  find(address: Address): Promise<Found | undefined> {
    return lookUp.find(this.#driver, address);
  }

  isKnown(digest: string): Promise<boolean> {
    return lookUp.isKnown(this.#driver, digest);
  }

  resolveQuery(text: string): Promise<lookUp.Resolved | undefined> {
    return lookUp.resolveQuery(this.#driver, text);
  }

  listIncidents(query: list.IncidentQuery): Promise<list.IncidentPage> {
    return list.listIncidents(this.#driver, this.#driver.dialect, query);
  }

  countStates(filter: list.IncidentFilter): Promise<Readonly<Record<IncidentState, number>>> {
    return list.countStates(this.#driver, this.#driver.dialect, filter);
  }

  listOccurrences(digest: string, query: occurrences.OccurrenceQuery): Promise<occurrences.OccurrencePage> {
    return occurrences.listOccurrences(this.#driver, digest, query);
  }

  findNeighbours(digest: string, occurrence: string): Promise<occurrences.Neighbours> {
    return occurrences.findNeighbours(this.#driver, digest, occurrence);
  }

  listHours(digest: string): Promise<IncidentHour[]> {
    return lookUp.listHours(this.#driver, digest);
  }

  listReleases(digest: string): Promise<IncidentRelease[]> {
    return lookUp.listReleases(this.#driver, digest);
  }

  listEnvironments(): Promise<string[]> {
    return list.listEnvironments(this.#driver);
  }

  listFeedback(digest: string, limit: number): Promise<Feedback[]> {
    return listFeedback(this.#driver, digest, limit);
  }

  listSimilar(digest: string, limit: number): Promise<Incident[]> {
    return lookUp.listSimilar(this.#driver, digest, limit);
  }

  async listChanges(digest: string, limit: number): Promise<changeLog.LoggedChange[]> {
    return changeLog.listChanges(this.#driver, await listFamily(this.#driver, digest), limit);
  }

  async listNotes(digest: string, limit: number): Promise<changeLog.Note[]> {
    return changeLog.listNotes(this.#driver, await listFamily(this.#driver, digest), limit);
  }

  readChanges(): Promise<number> {
    return readChanges(this.#driver);
  }

  changeIncident(digest: string, change: changes.IncidentChange, by: changes.ChangeBy): Promise<changes.ChangeOutcome> {
    return this.#change((sql) => changes.changeIncident(sql, this.#driver.dialect, digest, change, by));
  }

  async endIgnores(): Promise<void> {
    await this.#driver.transaction(async (sql) => {
      if ((await endIgnores(sql, this.#driver.dialect)) > 0) await noteChange(sql);
    });
  }

  mergeIncidents(digest: string, into: string, by: changes.ChangeBy): Promise<MergeOutcome> {
    return this.#change((sql) => mergeIncidents(sql, this.#driver.dialect, digest, into, by));
  }

  takeApart(digest: string, by: changes.ChangeBy): Promise<MergeOutcome> {
    return this.#change((sql) => takeApart(sql, this.#driver.dialect, digest, by));
  }

  addNote(digest: string, text: string, author: string): Promise<changeLog.Note | undefined> {
    return this.#change(async (sql) => {
      const incident = await changes.lockIncident(sql, this.#driver.dialect, digest);
      return incident && changeLog.storeNote(sql, this.#driver.dialect, { digest: incident.digest, author, text });
    });
  }

  deleteNote(id: number, author: string): Promise<boolean> {
    return this.#change(async (sql) => {
      const digest = await changeLog.deleteNote(sql, id);
      if (digest === undefined) return false;
      await changeLog.storeChange(sql, this.#driver.dialect, { digest, author, action: 'note-deleted', detail: {} });
      return true;
    });
  }

  deleteFeedback(digest: string, id: string, author: string): Promise<boolean> {
    return this.#change(async (sql) => {
      if (!(await deleteFeedback(sql, id))) return false;
      const change = { digest, author, action: 'feedback-deleted', detail: {} } as const;
      await changeLog.storeChange(sql, this.#driver.dialect, change);
      return true;
    });
  }

  deleteIncident(digest: string, expected?: number): Promise<forget.DeleteOutcome> {
    return this.#change((sql) => forget.deleteIncident(sql, this.#driver.dialect, digest, expected));
  }

  deleteOccurrence(address: Required<Address>, author: string): Promise<boolean> {
    return this.#change((sql) => forget.deleteOccurrence(sql, this.#driver.dialect, address, author));
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
    return sessions.createSession(this.#driver, this.#driver.dialect, idHash, grant, lifeMs);
  }

  readSession(idHash: string): Promise<sessions.Session | undefined> {
    return sessions.readSession(this.#driver, this.#driver.dialect, idHash);
  }

  endSession(idHash: string): Promise<boolean> {
    return sessions.endSession(this.#driver, idHash);
  }

  keepSessions(fingerprints: readonly string[]): Promise<number> {
    return this.#driver.transaction((sql) => sessions.keepSessions(sql, fingerprints));
  }

  createLink(idHash: string, grant: sessions.Grant): Promise<void> {
    return sessions.createLink(this.#driver, this.#driver.dialect, idHash, grant);
  }

  takeLink(idHash: string): Promise<sessions.Grant | undefined> {
    return sessions.takeLink(this.#driver, this.#driver.dialect, idHash);
  }

  countAttempt(sender: string): Promise<sessions.AttemptCounts> {
    return sessions.countAttempt(this.#driver, this.#driver.dialect, sender);
  }

  forgiveAttempt(sender: string): Promise<void> {
    return sessions.forgiveAttempt(this.#driver, this.#driver.dialect, sender);
  }

  useBuild(build: { id: string; release: string }): Promise<boolean> {
    return builds.useBuild(this.#driver, build);
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
    return builds.readAsset(this.#driver, path);
  }

  listBuilds(): Promise<{ id: string; release: string; firstAt: number }[]> {
    return builds.listBuilds(this.#driver);
  }

  storeBeat(run: runs.RunStart, beat: runs.StoredBeat): Promise<void> {
    return runs.storeBeat(this.#driver, this.#driver.dialect, run, beat);
  }

  storeLateBeat(late: runs.LateBeat): Promise<void> {
    return runs.storeLateBeat(this.#driver, late);
  }

  storeEnd(run: string): Promise<void> {
    return runs.storeEnd(this.#driver, this.#driver.dialect, run);
  }

  listSilent(forMs: number): Promise<string[]> {
    return runs.listSilent(this.#driver, this.#driver.dialect, forMs);
  }

  readUnended(run: string): Promise<runs.DeadRun | undefined> {
    return runs.readUnended(this.#driver, run);
  }

  tellDead(run: string, incident: Intake): Promise<boolean> {
    return this.#driver.transaction(async (sql) => {
      if (!(await runs.claimDead(sql, run))) return false;
      const environment = await runs.readEnvironment(sql, run);
      await takeIn(sql, this.#driver.dialect, { entries: [incident], environment }, this.#news);
      return true;
    });
  }

  listRuns(limit: number): Promise<Run[]> {
    return runs.listRuns(this.#driver, limit);
  }

  async claimNotice(target: notices.NoticeTarget): Promise<claims.ClaimedNotice | undefined> {
    if (!(await claims.hasWaiting(this.#driver, target))) return undefined;
    return this.#driver.transaction((sql) => claims.claimNotice(sql, this.#driver.dialect, target));
  }

  settleNotice(notice: notices.Notice, outcome: claims.NoticeOutcome): Promise<void> {
    return this.#change((sql) => claims.settleNotice(sql, this.#driver.dialect, notice, outcome));
  }

  storeTestNotice(
    target: notices.NoticeTarget,
    sent: { readonly uid: string; readonly ok: boolean; readonly words: string },
  ): Promise<void> {
    return this.#change((sql) => notices.storeTest(sql, this.#driver.dialect, target, sent));
  }

  listNotices(limit: number): Promise<notices.NoticeLists> {
    return notices.listNotices(this.#driver, limit);
  }

  readMeta(): Promise<Readonly<Record<string, string>>> {
    return readMeta(this.#driver);
  }

  readSalts(offers: readonly Salt[]): Promise<Salt[]> {
    return this.#driver.transaction((sql) => secrets.readSalts(sql, this.#driver.dialect, offers));
  }

  listSecrets(): Promise<secrets.Secret[]> {
    return secrets.listSecrets(this.#driver);
  }

  retain(options: RetentionOptions): Promise<void> {
    return retain(this.#driver, options);
  }

  usedBytes(): Promise<number> {
    return this.#driver.usedBytes();
  }

  async check(): Promise<void> {
    await this.#driver.check();
    // A full disk can be read from.
    await this.#driver.run("UPDATE desk_meta SET value = value WHERE name = 'schema'");
  }

  close(): Promise<void> {
    return this.#driver.close();
  }
}
