import type { DeskCount } from '../counters.ts';
import type { DeskLog } from '../desk-log.ts';
import type { NotifySettings } from '../notifications/settings.ts';
import type { DeskRetention } from '../read-settings.ts';
import type { RetentionReport } from '../store/retention.ts';
import type { QueryFailure } from '../store/sql.ts';
import type { DeskCalls } from './desk-calls.ts';
import type { BlockedLoop } from './watchdog.ts';

/** What runs here. */
export interface Running {
  readonly build: string;
  readonly release: string;
  /** For the filter of the list. Several environments can share a store. */
  readonly environment: string;
  readonly namespace: string;
  /** The folder of the build: `dist`. */
  readonly dist: string;
}

/** Where failures are stored, and for how long. */
export interface Storing {
  readonly dataDir: string;
  /** The URL of a PostgreSQL database. Without it, SQLite in `dataDir`, which only one process can use. */
  readonly databaseUrl?: string | undefined;
  readonly retention: DeskRetention;
  /** The recipients of notifications. Undefined if there are none. */
  readonly notify?: NotifySettings | undefined;
  /** The first wait before an unavailable store, or a refused batch, is tried again (ms). For tests. */
  readonly retryFirst?: number | undefined;
}

/** What the desk worker gets when it starts. It is copied to its thread. */
export interface WorkerStart {
  readonly signals: SharedArrayBuffer;
  /** The requests in flight, for `readInFlight()`. */
  readonly inFlight: SharedArrayBuffer;
  /** Names this process and its journal. */
  readonly process: string;
  readonly startedAt: number;
  /** The heap limit of the main thread (bytes). */
  readonly heapLimit: number;
  readonly running: Running;
  readonly storing: Storing;
}

export type ToWorker =
  | { readonly say: 'wake' }
  | { readonly say: 'call'; readonly id: number; readonly name: keyof DeskCalls; readonly args: readonly unknown[] };

/** Why a call failed: the store is unavailable, only this query failed, or there was another error. */
export type CallFailure = 'away' | QueryFailure | 'broken';

export type FromWorker =
  | { readonly say: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly say: 'failure'; readonly id: number; readonly message: string; readonly why: CallFailure }
  /** The worker runs. */
  | { readonly say: 'alive' }
  | { readonly say: 'count'; readonly args: Parameters<DeskCount> }
  | { readonly say: 'log'; readonly level: keyof DeskLog; readonly fields: object; readonly message: string }
  | { readonly say: 'blocked'; readonly report: BlockedLoop }
  | { readonly say: 'retained'; readonly report: RetentionReport };
