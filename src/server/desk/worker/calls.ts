import type { DeskRetention } from '../../config.ts';
import type { Count } from '../../engine/monitoring/count.ts';
import type { Address } from '../address.ts';
import type { TestSent } from '../notifications/notifier.ts';
import type { NotifySettings } from '../notifications/settings.ts';
import type { ChangeBy } from '../store/change-incident.ts';
import type { CallKey } from '../store/incident-key.ts';
import type { Resolved } from '../store/look-up.ts';
import type { Found } from '../store/records.ts';
import type { RetentionReport } from '../store/retention.ts';
import type { QueryFailure } from '../store/sql.ts';
import type { Store } from '../store/store.ts';
import type { Beat, BlockedLoop } from './processes/heartbeat.ts';

/** Calls of the main thread that the store answers by a method of the same name, by what is waited for first. */
export const STORE_CALLS = {
  /** For what this process has journaled before, but not for long. */
  journaled: [
    'listIncidents',
    'countStates',
    'listOccurrences',
    'listHours',
    'listReleases',
    'findNeighbours',
    'listEnvironments',
    'listKnownIn',
    'listSimilar',
    'listFeedback',
    'listChanges',
  ],
  /** For it too, and for longer: these change what it may belong to. */
  settled: [
    'changeIncident',
    'mergeIncidents',
    'takeApart',
    'addNote',
    'deleteFeedback',
    'deleteIncident',
    'deleteOccurrence',
  ],
  nothing: [
    'listNotes',
    'readChanges',
    'deleteNote',
    'readDeletion',
    'createSession',
    'readSession',
    'endSession',
    'keepSessions',
    'createLink',
    'takeLink',
    'countAttempts',
    'listNotices',
    'listRuns',
    'readBuildFile',
    'readAsset',
    'listBuilds',
    'listDeployments',
    'readSalts',
  ],
} as const satisfies Record<string, readonly (keyof Store)[]>;

export type StoreCall = (typeof STORE_CALLS)[keyof typeof STORE_CALLS][number];

/** The environment of their incident is spelled out, because each environment has an incident of its own. */
type OfIncident = Extract<
  StoreCall,
  | `list${'Occurrences' | 'Hours' | 'Releases' | 'Similar' | 'Feedback' | 'Changes' | 'Notes'}`
  | `delete${'Feedback' | 'Incident' | 'Occurrence'}`
  | 'findNeighbours'
  | 'changeIncident'
  | 'takeApart'
  | 'addNote'
>;

type AfterKey<Arguments> = Arguments extends [string, ...infer Others] ? Others : never;

type StoreCallArguments<Name extends StoreCall> = Name extends 'mergeIncidents'
  ? [key: CallKey, into: CallKey, by: ChangeBy]
  : Name extends OfIncident
    ? [key: CallKey, ...others: AfterKey<Parameters<Store[Name]>>]
    : Parameters<Store[Name]>;

/** What the desk worker answers by itself, or in other words than the store. */
export interface OwnHandlers {
  /**
   * @param address `7K3QM2XA` or `7K3QM2XA-9F4W0R6B`, however it is spelt
   * @param environment where to look; by default everywhere, first in the environment of this server
   */
  find(address: string, environment?: string): Promise<Found | undefined>;
  /** Whether a digest has an incident already in the environment of this server, without waiting for what is on its way. */
  isKnown(digest: string): Promise<boolean>;
  /** The failure of an event of the last day, in the environment of this server. @param id 32 hexadecimal digits */
  findEvent(id: string): Promise<Required<Address> | undefined>;
  /** Whether an address is that of a server's failure of the last hour, which no browser has reported to have seen too. */
  isEchoAwaited(address: string): Promise<boolean>;
  /** What a text leads straight to: a digest, an address, the id of a request or of a trace. */
  resolveQuery(text: string): Promise<Resolved | undefined>;
  /** Sends a test to everybody who is told. */
  sendTestNotices(): Promise<TestSent[]>;
  /** Waits for a short time until everything that was appended before is in the store. */
  settle(): Promise<void>;
  /** Waits until it is. */
  flush(): Promise<void>;
  /** The process ends on purpose. */
  close(): Promise<void>;
}

export type StoreHandlers = {
  readonly [Name in StoreCall]: (...args: StoreCallArguments<Name>) => ReturnType<Store[Name]>;
};

/**
 * The calls of the main thread. An answer includes everything that this process journaled before the call, unless
 * there is so much of it that the answer would be late.
 */
export type WorkerHandlers = OwnHandlers & StoreHandlers;

export type CallName = keyof WorkerHandlers;
export type CallArguments<Name extends CallName> = Parameters<WorkerHandlers[Name]>;
export type CallAnswer<Name extends CallName> = Awaited<ReturnType<WorkerHandlers[Name]>>;

/** What the worker is started with. */
export interface WorkerStart {
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

export type ToWorker =
  | { readonly say: 'wake' }
  | { readonly say: 'beat'; readonly beat: Beat }
  | { readonly say: 'call'; readonly id: number; readonly name: CallName; readonly args: readonly unknown[] };

/** Why a question was not answered: the store is away, this query failed, or something else broke. */
export type Refusal = 'away' | QueryFailure | 'broken';

export type FromWorker =
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
