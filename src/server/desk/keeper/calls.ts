import type { IncidentState } from '../../../shared/desk/shapes.ts';
import type { DeskRetention } from '../../config.ts';
import type { Count } from '../../engine/count.ts';
import type { Address } from '../address.ts';
import type { Beat, BlockedLoop } from '../beat.ts';
import type { Feedback, Salt } from '../journal-entry.ts';
import type { TestSent } from '../notify/notifier.ts';
import type { NotifySettings } from '../notify/settings.ts';
import type { KnownBuild } from '../store/build-table.ts';
import type { ChangeBy, ChangeOutcome, IncidentChange } from '../store/change-incident.ts';
import type { Deletion, LoggedChange, Note } from '../store/change-log.ts';
import type { DeleteOutcome } from '../store/forget.ts';
import type { CallKey } from '../store/incident-key.ts';
import type { IncidentFilter, IncidentPage, IncidentQuery } from '../store/list-incidents.ts';
import type { Resolved } from '../store/look-up.ts';
import type { MergeOutcome } from '../store/merge.ts';
import type { NoticeLists } from '../store/notice-table.ts';
import type { Neighbours, OccurrencePage, OccurrenceQuery } from '../store/occurrence-table.ts';
import type { Found, Incident, IncidentHour, IncidentRelease, Run } from '../store/records.ts';
import type { RetentionReport } from '../store/retention.ts';
import type { AttemptCounts, Grant, Session } from '../store/session-table.ts';
import type { QueryFailure } from '../store/sql.ts';

/**
 * Questions of the main thread. An answer includes everything that this process journaled before the
 * question, unless there is so much of it that the answer would be late.
 */
export interface KeeperCalls {
  /**
   * @param address `7K3QM2XA` or `7K3QM2XA-9F4W0R6B`, however it is spelt
   * @param environment where to look; by default everywhere, first in the environment of this server
   */
  find(address: string, environment?: string): Found | undefined;
  /** Whether a digest has an incident already in the environment of this server, without waiting for what is on its way. */
  isKnown(digest: string): boolean;
  /** The failure of an event of the last day, in the environment of this server. @param id 32 hexadecimal digits */
  findEvent(id: string): Required<Address> | undefined;
  /** Whether an address is that of a server's failure of the last hour, which no browser has reported to have seen too. */
  isEchoAwaited(address: string): boolean;
  /** What a text leads straight to: a digest, an address, the id of a request or of a trace. */
  resolveQuery(text: string): Resolved | undefined;
  /** Refused where the cursor is none: ask `isCursor` first. */
  listIncidents(query: IncidentQuery): IncidentPage;
  countStates(filter: IncidentFilter): Readonly<Record<IncidentState, number>>;
  /** The latest first. Refused where the cursor is none. @param key `toCallKey()` makes it, as in all that follow */
  listOccurrences(key: CallKey, query: OccurrenceQuery): OccurrencePage;
  findNeighbours(key: CallKey, occurrence: string): Neighbours;
  listHours(key: CallKey): IncidentHour[];
  listReleases(key: CallKey): IncidentRelease[];
  /** The environments that use the store (`SENTRY_ENVIRONMENT`): names, sorted. */
  listEnvironments(): readonly string[];
  /** The environments in which a digest is known: names, sorted. */
  listKnownIn(digest: string): string[];
  /** Others of the same file, or whose messages have the same shape. */
  listSimilar(key: CallKey, limit: number): Incident[];
  /** What visitors said of it, the latest first. */
  listFeedback(key: CallKey, limit: number): Feedback[];
  /** What became of it, by whom and when, the latest first. */
  listChanges(key: CallKey, limit: number): LoggedChange[];
  listNotes(key: CallKey, limit: number): Note[];
  /** Grows with all that is taken in and with each change, over all replicas; one short statement. */
  readChanges(): number;

  changeIncident(key: CallKey, change: IncidentChange, by: ChangeBy): ChangeOutcome;
  /** @param by with `expected`, the version of the incident that is left */
  mergeIncidents(key: CallKey, into: CallKey, by: ChangeBy): MergeOutcome;
  /** @param key of one of the incident's `aliases` */
  takeApart(key: CallKey, by: ChangeBy): MergeOutcome;
  /** Undefined where there is no such incident. */
  addNote(key: CallKey, text: string, author: string): Note | undefined;
  deleteIncident(key: CallKey, by: ChangeBy): DeleteOutcome;
  /** Who deleted the incident of a digest, and when. @param environment where to look; by default everywhere */
  readDeletion(digest: string, environment?: string): Deletion | undefined;
  /** Each answers whether there was something to do it to. */
  deleteNote(id: number, author: string): boolean;
  deleteFeedback(key: CallKey, id: string, author: string): boolean;
  deleteOccurrence(key: CallKey, occurrence: string, author: string): boolean;

  createSession(idHash: string, grant: Grant, lifeMs: number): void;
  readSession(idHash: string): Session | undefined;
  endSession(idHash: string): boolean;
  /** Ends all that rest on other tokens than those with these fingerprints. */
  keepSessions(fingerprints: readonly string[]): number;
  /** For one use within 15 minutes. */
  createLink(idHash: string, grant: Grant): void;
  takeLink(idHash: string): Grant | undefined;
  /** Counts wrong tokens by the hashes of their senders, and in total. */
  countAttempts(bySender: AttemptCounts['bySender'], inTotal: number): AttemptCounts;

  /** What waits to be told, and what was told. @param limit of each (a count) */
  listNotices(limit: number): NoticeLists;
  /** Sends a test to everybody who is told. */
  sendTestNotices(): TestSent[];

  listRuns(limit: number): Run[];
  /** @param path within `dist`: `sites.json`, `maps/server/main.js.map` */
  readBuildFile(build: string, path: string): Uint8Array | undefined;
  /** A file of whichever build had it. @param path within `dist`: `client/assets/home-X7K2QM2X.js` */
  readAsset(path: string): Uint8Array | undefined;
  listBuilds(): KnownBuild[];
  /** Builds that were started in an environment, and when that was. */
  listDeployments(environment: string): KnownBuild[];
  /** The salts that visitors are hashed with, the common ones first. @param offers become the common salts of days that have none */
  readSalts(offers: readonly Salt[]): Salt[];
  /** Waits for a short time until everything that was appended before is in the store. */
  settle(): void;
  /** Waits until it is. */
  flush(): void;
  /** The process ends on purpose. */
  close(): void;
}

export type CallName = keyof KeeperCalls;
export type CallArguments<Name extends CallName> = Parameters<KeeperCalls[Name]>;
export type CallAnswer<Name extends CallName> = ReturnType<KeeperCalls[Name]>;

/** The same on the keeper's side. */
export type KeeperHandlers = {
  readonly [Name in CallName]: (...args: CallArguments<Name>) => CallAnswer<Name> | Promise<CallAnswer<Name>>;
};

/** What the worker is started with. */
export interface KeeperStart {
  readonly signals: SharedArrayBuffer;
  /** Names this process and its journal. */
  readonly run: string;
  readonly startedAt: number;
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly build: string;
  readonly release: string;
  readonly environment: string;
  readonly namespace: string;
  readonly retention: DeskRetention;
  /** The folder of the build. */
  readonly dist: string;
  /** Who is told; undefined for nobody. */
  readonly notify?: NotifySettings | undefined;
  /** The first wait before a store that is away, or that refuses something, is tried again (ms). */
  readonly retryFirst?: number | undefined;
}

export type ToKeeper =
  | { readonly say: 'wake' }
  | { readonly say: 'beat'; readonly beat: Beat }
  | { readonly say: 'call'; readonly id: number; readonly name: CallName; readonly args: readonly unknown[] };

/** Why a question was not answered: the store is away, this query failed, or something else broke. */
export type Refusal = 'away' | QueryFailure | 'broken';

export type FromKeeper =
  | { readonly say: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly say: 'refusal'; readonly id: number; readonly message: string; readonly why: Refusal }
  /** It works, and has read the last heartbeat. */
  | { readonly say: 'alive' }
  | { readonly say: 'count'; readonly args: Parameters<Count> }
  | {
      readonly say: 'log';
      readonly level: 'info' | 'warn' | 'error';
      readonly fields: object;
      readonly message: string;
    }
  | { readonly say: 'blocked'; readonly report: BlockedLoop }
  | { readonly say: 'retained'; readonly report: RetentionReport };
