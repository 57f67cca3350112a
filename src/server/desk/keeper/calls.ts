import type { Beat, BlockedLoop } from '../beat.ts';
import type { Feedback } from '../journal-entry.ts';
import type { IncidentQuery, OccurrenceQuery } from '../store/look-up.ts';
import type { Pass, Tries } from '../store/pass-table.ts';
import type { Found, Incident, IncidentHour, IncidentRelease, Occurrence, Run } from '../store/records.ts';

/** What the main thread may ask. Each answer tells of everything that this process journaled before the question. */
export interface KeeperCalls {
  /** @param address `7K3QM2XA` or `7K3QM2XA-9F4W0R6B`, however it is spelt */
  find(address: string): Found | undefined;
  /** Whether a digest has an incident already, without waiting for what is on its way. */
  isKnown(digest: string): boolean;
  listIncidents(query: IncidentQuery): Incident[];
  listOccurrences(digest: string, query: OccurrenceQuery): Occurrence[];
  listHours(digest: string): IncidentHour[];
  listReleases(digest: string): IncidentRelease[];
  /** What visitors said of its occurrences, the latest first. */
  listFeedback(digest: string, limit: number): Feedback[];
  listRuns(limit: number): Run[];
  /** @param path within `dist`: `sites.json`, `maps/server/main.js.map` */
  readBuildFile(build: string, path: string): Uint8Array | undefined;
  /** A file of whichever build had it. @param path within `dist`: `client/assets/home-X7K2QM2X.js` */
  readAsset(path: string): Uint8Array | undefined;
  listBuilds(): { id: string; release: string; firstAt: number }[];
  /** Random, the same for all replicas: what visitors are hashed with. */
  readSalt(): string;
  /** Sessions and sign-in links. @param now milliseconds since 1970 */
  storePass(pass: Pass, now: number): void;
  findPass(kind: Pass['kind'], key: string, now: number): Pass | undefined;
  /** Finds it for the last time: for a ticket that is used, and a session that ends. */
  takePass(kind: Pass['kind'], key: string, now: number): Pass | undefined;
  /** Counts a try to sign in. @param minute since 1970 */
  countTry(sender: string, minute: number): Tries;
  forgiveTry(sender: string, minute: number): void;
  /** Whether the store can be used at the moment. */
  isReachable(): boolean;
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
  readonly namespace: string;
  /** The folder of the build. */
  readonly dist: string;
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
