import type { IncidentState } from '../../../shared/desk/shapes.ts';
import type { Address } from '../address.ts';
import type { Beat, BlockedLoop } from '../beat.ts';
import type { Feedback, Salt } from '../journal-entry.ts';
import type { TestSent } from '../notify/notifier.ts';
import type { NotifySettings } from '../notify/settings.ts';
import type { ChangeBy, ChangeOutcome, IncidentChange } from '../store/change-incident.ts';
import type { LoggedChange, Note } from '../store/change-log.ts';
import type { DeleteOutcome } from '../store/forget.ts';
import type { IncidentFilter, IncidentPage, IncidentQuery } from '../store/list-incidents.ts';
import type { Resolved } from '../store/look-up.ts';
import type { MergeOutcome } from '../store/merge.ts';
import type { NoticeLists } from '../store/notice-table.ts';
import type { Neighbours, OccurrencePage, OccurrenceQuery } from '../store/occurrence-table.ts';
import type { Found, Incident, IncidentHour, IncidentRelease, Run } from '../store/records.ts';
import type { AttemptCounts, Grant, Session } from '../store/session-table.ts';

/** What the main thread may ask. Each answer tells of everything that this process journaled before the question. */
export interface KeeperCalls {
  /** @param address `7K3QM2XA` or `7K3QM2XA-9F4W0R6B`, however it is spelt */
  find(address: string): Found | undefined;
  /** Whether a digest has an incident already, without waiting for what is on its way. */
  isKnown(digest: string): boolean;
  /** What a text leads straight to: a digest, an address, the id of a request or of a trace. */
  resolveQuery(text: string): Resolved | undefined;
  /** Refused where the cursor is none: ask `isCursor` first. */
  listIncidents(query: IncidentQuery): IncidentPage;
  countStates(filter: IncidentFilter): Readonly<Record<IncidentState, number>>;
  /** The latest first. Refused where the cursor is none. */
  listOccurrences(digest: string, query: OccurrenceQuery): OccurrencePage;
  findNeighbours(digest: string, occurrence: string): Neighbours;
  listHours(digest: string): IncidentHour[];
  listReleases(digest: string): IncidentRelease[];
  /** Where incidents were seen (`SENTRY_ENVIRONMENT`): names, sorted. */
  listEnvironments(): string[];
  /** Others of the same file, or whose messages have the same shape. */
  listSimilar(digest: string, limit: number): Incident[];
  /** What visitors said of it, the latest first. */
  listFeedback(digest: string, limit: number): Feedback[];
  /** What became of it, by whom and when, the latest first. */
  listChanges(digest: string, limit: number): LoggedChange[];
  listNotes(digest: string, limit: number): Note[];
  /** Grows with all that is taken in and with each change, over all replicas; one short statement. */
  readChanges(): number;

  changeIncident(digest: string, change: IncidentChange, by: ChangeBy): ChangeOutcome;
  /** @param by with `expected`, the version of the incident that is left */
  mergeIncidents(digest: string, into: string, by: ChangeBy): MergeOutcome;
  /** @param digest one of the incident's `aliases` */
  takeApart(digest: string, by: ChangeBy): MergeOutcome;
  /** Undefined where there is no such incident. */
  addNote(digest: string, text: string, author: string): Note | undefined;
  deleteIncident(digest: string, expected?: number): DeleteOutcome;
  /** Each answers whether there was something to do it to. */
  deleteNote(id: number, author: string): boolean;
  deleteFeedback(digest: string, id: string, author: string): boolean;
  deleteOccurrence(address: Required<Address>, author: string): boolean;

  createSession(idHash: string, grant: Grant, lifeMs: number): void;
  readSession(idHash: string): Session | undefined;
  endSession(idHash: string): boolean;
  /** Ends all that rest on other tokens than those with these fingerprints. */
  keepSessions(fingerprints: readonly string[]): number;
  /** For one use within 15 minutes. */
  createLink(idHash: string, grant: Grant): void;
  takeLink(idHash: string): Grant | undefined;
  /** Counts an attempt to sign in. @param sender a hash of the address */
  countAttempt(sender: string): AttemptCounts;
  forgiveAttempt(sender: string): void;

  /** What waits to be told, and what was told. @param limit of each (a count) */
  listNotices(limit: number): NoticeLists;
  /** Sends a test to everybody who is told. */
  sendTestNotices(): TestSent[];

  listRuns(limit: number): Run[];
  /** @param path within `dist`: `sites.json`, `maps/server/main.js.map` */
  readBuildFile(build: string, path: string): Uint8Array | undefined;
  /** A file of whichever build had it. @param path within `dist`: `client/assets/home-X7K2QM2X.js` */
  readAsset(path: string): Uint8Array | undefined;
  listBuilds(): { id: string; release: string; firstAt: number }[];
  /** The salts that visitors are hashed with, the common ones first. @param offers become the common salts of days that have none */
  readSalts(offers: readonly Salt[]): Salt[];
  /** Everything that was appended before is in the store. */
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
  readonly environment?: string | undefined;
  readonly namespace: string;
  /** The folder of the build. */
  readonly dist: string;
  /** Who is told; undefined for nobody. */
  readonly notify?: NotifySettings | undefined;
}

export type ToKeeper =
  | { readonly say: 'wake' }
  | { readonly say: 'beat'; readonly beat: Beat }
  | { readonly say: 'call'; readonly id: number; readonly name: CallName; readonly args: readonly unknown[] };

export type FromKeeper =
  | { readonly say: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly say: 'refusal'; readonly id: number; readonly message: string; readonly away: boolean }
  | {
      readonly say: 'log';
      readonly level: 'info' | 'warn' | 'error';
      readonly fields: object;
      readonly message: string;
    }
  | { readonly say: 'blocked'; readonly report: BlockedLoop };
