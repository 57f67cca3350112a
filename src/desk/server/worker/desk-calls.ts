import type { TestResult } from '../../shared/actions.ts';
import type { Resolved } from '../store/find-incident.ts';
import type { FoundIncident } from '../store/records.ts';
import type { Store } from '../store/store.ts';

/** Reads of the store. They include the failures in this process's journal, if those are stored in time. */
export const READS = [
  'readDetails',
  'readDeletion',
  'listIncidents',
  'countStates',
  'listOccurrences',
  'listDeployments',
  'listEnvironments',
] as const;

/** Changes. They wait longer for the journal, because the failures in it can belong to the incident. */
export const CHANGES = ['changeState', 'deleteIncident', 'deleteOccurrence', 'addNote', 'deleteNote'] as const;

/** What needs nothing of the journal. */
export const OTHERS = [
  'readChanges',
  'isKnownDigest',
  'listBuilds',
  'readAsset',
  'listRevalidations',
  'readSalts',
  'listNotifications',
  'createSession',
  'readSession',
  'endSession',
  'createLink',
  'takeLink',
] as const;

type StoreCalls = Pick<Store, (typeof READS | typeof CHANGES | typeof OTHERS)[number]>;

/**
 * The calls from the main thread to the desk worker, which answers them in `answers.ts`, most of them with the method of
 * the store. Each rejects with a `StoreAwayError` if the store cannot be used at the moment, or the worker does not answer,
 * and with a `QueryFailedError` if only this query failed.
 */
export interface DeskCalls extends StoreCalls {
  /**
   * Finds the incident of an address.
   *
   * @param text an address, `7K3QM2XA` or `7K3QM2XA-9F4W0R6B`, in any spelling
   * @param environment all environments by default, first that of this server
   * @throws QueryFailedError if the address is unknown, and may still arrive
   */
  find(text: string, environment?: string): Promise<FoundIncident | undefined>;
  /** Like that of the store. An address is awaited. */
  resolveQuery(text: string): Promise<Resolved | undefined>;
  /** Whether an address is of a server's failure in the last hour that still needs an echo. */
  isEchoAwaited(address: string): Promise<boolean>;
  /** Sends a test notification to each target. */
  sendTestNotifications(): Promise<readonly TestResult[]>;
  /** Waits briefly until everything in the journal is stored. @returns false if something still waits */
  settle(): Promise<boolean>;
  /** Waits until everything in the journal is stored. */
  flush(): Promise<void>;
  /** Called when the process ends on purpose. */
  close(): Promise<void>;
}

/** The calls that the worker answers itself. */
const WORKER_CALLS = {
  find: true,
  resolveQuery: true,
  isEchoAwaited: true,
  sendTestNotifications: true,
  settle: true,
  flush: true,
  close: true,
} satisfies Record<Exclude<keyof DeskCalls, keyof StoreCalls>, true>;

/** The names of all calls. */
export const CALLS = [...READS, ...CHANGES, ...OTHERS, ...Object.keys(WORKER_CALLS)] as (keyof DeskCalls)[];
