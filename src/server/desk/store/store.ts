import type { Address } from '../address.ts';
import type { Beat, BlockedLoop } from '../beat.ts';
import type { Feedback } from '../journal-entry.ts';
import type { JournalPosition } from '../segment-files.ts';
import * as builds from './build-table.ts';
import { listFeedback } from './feedback-table.ts';
import * as lookUp from './look-up.ts';
import { migrate, readMeta } from './migrations.ts';
import * as passes from './pass-table.ts';
import type { Found, Incident, IncidentHour, IncidentRelease, Occurrence, Run } from './records.ts';
import { type RetentionOptions, retain } from './retention.ts';
import * as runs from './run-table.ts';
import { type SqlDriver, StoreAwayError } from './sql.ts';
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
  listIncidents(query: lookUp.IncidentQuery): Promise<Incident[]>;
  listOccurrences(digest: string, query: lookUp.OccurrenceQuery): Promise<Occurrence[]>;
  listHours(digest: string): Promise<IncidentHour[]>;
  listReleases(digest: string): Promise<IncidentRelease[]>;
  listFeedback(digest: string, limit: number): Promise<Feedback[]>;

  /** @returns whether the build's files are here already */
  useBuild(build: { id: string; release: string }): Promise<boolean>;
  storeBuildFile(build: string, file: builds.BuildFile): Promise<void>;
  setPublished(build: string): Promise<void>;
  readBuildFile(build: string, path: string): Promise<Uint8Array | undefined>;
  readAsset(path: string): Promise<Uint8Array | undefined>;
  listBuilds(): Promise<{ id: string; release: string; firstAt: number }[]>;

  storeBeat(run: runs.RunStart, beat: Beat & { startedAt: number; blocked?: BlockedLoop | undefined }): Promise<void>;
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

  storePass(pass: passes.Pass, now: number): Promise<void>;
  findPass(kind: passes.Pass['kind'], key: string, now: number): Promise<passes.Pass | undefined>;
  takePass(kind: passes.Pass['kind'], key: string, now: number): Promise<passes.Pass | undefined>;
  countTry(sender: string, minute: number): Promise<passes.Tries>;
  forgiveTry(sender: string, minute: number): Promise<void>;

  readMeta(): Promise<Readonly<Record<string, string>>>;
  retain(options: RetentionOptions): Promise<void>;
  usedBytes(): Promise<number>;
  /** Looks whether it can be written to. @throws StoreAwayError */
  check(): Promise<void>;
  close(): Promise<void>;
}

/**
 * @param rule the version of the digest's rule, which the store remembers
 * @throws StoreAwayError
 */
export async function openStore(driver: SqlDriver, { rule }: { rule: number }): Promise<Store> {
  try {
    await migrate(driver, { rule });
  } catch (error) {
    await driver.close();
    throw error;
  }
  return new SqlStore(driver);
}

/** Ends a transaction that was only a trial. */
class TriedError extends Error {}

class SqlStore implements Store {
  readonly isShared: boolean;
  readonly #driver: SqlDriver;

  constructor(driver: SqlDriver) {
    this.#driver = driver;
    this.isShared = driver.isShared;
  }

  takeIn(batch: Batch): Promise<void> {
    return this.#driver.transaction((sql) => takeIn(sql, this.#driver.dialect, batch));
  }

  async wouldTake(intake: Intake): Promise<boolean> {
    try {
      await this.#driver.transaction(async (sql) => {
        await takeIn(sql, this.#driver.dialect, { entries: [intake] });
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

  listIncidents(query: lookUp.IncidentQuery): Promise<Incident[]> {
    return lookUp.listIncidents(this.#driver, query);
  }

  listOccurrences(digest: string, query: lookUp.OccurrenceQuery): Promise<Occurrence[]> {
    return lookUp.listOccurrences(this.#driver, digest, query);
  }

  listHours(digest: string): Promise<IncidentHour[]> {
    return lookUp.listHours(this.#driver, digest);
  }

  listReleases(digest: string): Promise<IncidentRelease[]> {
    return lookUp.listReleases(this.#driver, digest);
  }

  listFeedback(digest: string, limit: number): Promise<Feedback[]> {
    return listFeedback(this.#driver, digest, limit);
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

  storeBeat(run: runs.RunStart, beat: Beat & { startedAt: number; blocked?: BlockedLoop | undefined }): Promise<void> {
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
      await takeIn(sql, this.#driver.dialect, { entries: [incident] });
      return true;
    });
  }

  listRuns(limit: number): Promise<Run[]> {
    return runs.listRuns(this.#driver, limit);
  }

  storePass(pass: passes.Pass, now: number): Promise<void> {
    return passes.storePass(this.#driver, pass, now);
  }

  findPass(kind: passes.Pass['kind'], key: string, now: number): Promise<passes.Pass | undefined> {
    return passes.findPass(this.#driver, kind, key, now);
  }

  takePass(kind: passes.Pass['kind'], key: string, now: number): Promise<passes.Pass | undefined> {
    return passes.takePass(this.#driver, kind, key, now);
  }

  countTry(sender: string, minute: number): Promise<passes.Tries> {
    return passes.countTry(this.#driver, sender, minute);
  }

  forgiveTry(sender: string, minute: number): Promise<void> {
    return passes.forgiveTry(this.#driver, sender, minute);
  }

  readMeta(): Promise<Readonly<Record<string, string>>> {
    return readMeta(this.#driver);
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
