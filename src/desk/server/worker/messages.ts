import type { Count } from '#engine/tracker';
import type { DeskLog } from '../desk-log.ts';
import type { NotifySettings } from '../notifications/settings.ts';
import type { DeskRetention } from '../read-settings.ts';
import type { RetentionReport } from '../store/retention.ts';
import type { QueryFailure } from '../store/sql.ts';
import type { DeskCalls } from './desk-calls.ts';
import type { BlockedLoop } from './watchdog.ts';

/** The settings of the desk worker, which it gets when it starts. */
export interface WorkerStart {
  readonly signals: SharedArrayBuffer;
  /** Names this process and its journal. */
  readonly process: string;
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
  /** Undefined for no notifications. */
  readonly notify?: NotifySettings | undefined;
  /** The first wait before a store that is unavailable or refuses an entry is tried again (ms). */
  readonly retryFirst?: number | undefined;
}

export type ToWorker =
  | { readonly say: 'wake' }
  | { readonly say: 'call'; readonly id: number; readonly name: keyof DeskCalls; readonly args: readonly unknown[] };

/** Why a call failed: the store is unavailable, only this query failed, or there was another error. */
export type Refusal = 'away' | QueryFailure | 'broken';

export type FromWorker =
  | { readonly say: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly say: 'refusal'; readonly id: number; readonly message: string; readonly why: Refusal }
  /** The worker runs. */
  | { readonly say: 'alive' }
  | { readonly say: 'count'; readonly args: Parameters<Count> }
  | { readonly say: 'log'; readonly level: keyof DeskLog; readonly fields: object; readonly message: string }
  | { readonly say: 'blocked'; readonly report: BlockedLoop }
  | { readonly say: 'retained'; readonly report: RetentionReport };
