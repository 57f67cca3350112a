import type { Count } from '../../engine/monitoring/count.ts';
import type { RetentionReport } from '../store/retention/retention.ts';
import type { QueryFailure } from '../store/sql.ts';
import type { DeskWorker } from './desk-worker.ts';
import type { BlockedLoop, Heartbeat } from './processes/heartbeat.ts';

export type WorkerHandlers = DeskWorker['handlers'];
export type CallName = keyof WorkerHandlers;
export type CallArguments<Name extends CallName> = Parameters<WorkerHandlers[Name]>;
export type CallAnswer<Name extends CallName> = Awaited<ReturnType<WorkerHandlers[Name]>>;

export type ToWorker =
  | { readonly say: 'wake' }
  | { readonly say: 'beat'; readonly beat: Heartbeat }
  | { readonly say: 'call'; readonly id: number; readonly name: CallName; readonly args: readonly unknown[] };

/** Why a call failed: the store is unavailable, only this query failed, or there was another error. */
export type Refusal = 'away' | QueryFailure | 'broken';

export type FromWorker =
  | { readonly say: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly say: 'refusal'; readonly id: number; readonly message: string; readonly why: Refusal }
  /** The worker runs, and has read the last heartbeat. */
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
