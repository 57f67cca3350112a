import type { TestResult } from '../../shared/actions.ts';
import type { Resolved } from '../store/find-incident.ts';
import type { FoundIncident } from '../store/records.ts';
import type { Store } from '../store/store.ts';

/** Reads. They include the failures in this process's journal, if those are stored in time. */
interface Reads
  extends Pick<Store['details'], 'readDetails'>,
    Pick<Store['history'], 'readDeletion'>,
    Pick<Store['list'], 'listIncidents' | 'countStates'>,
    Pick<Store['occurrences'], 'listOccurrences'>,
    Pick<Store['builds'], 'listDeployments' | 'listEnvironments'> {}

/** Changes. They wait longer for the journal, because the failures in it can belong to the incident. */
interface Changes
  extends Pick<Store['changes'], 'changeState' | 'deleteIncident' | 'deleteOccurrence'>,
    Pick<Store['history'], 'addNote' | 'deleteNote'> {}

/** What needs nothing of the journal. */
interface Others
  extends Pick<Store, 'readChanges'>,
    Pick<Store['finder'], 'isKnownDigest'>,
    Pick<Store['builds'], 'listBuilds' | 'readAsset'>,
    Pick<Store['revalidations'], 'listRevalidations'>,
    Pick<Store['visitors'], 'readSalts'>,
    Pick<Store['notifications'], 'listNotifications'>,
    Pick<Store['sessions'], 'storeSession' | 'hasSession' | 'endSession'> {}

/**
 * The calls from the main thread to the desk worker, which answers them in `answers.ts`, most of them with the method of
 * the store. Each rejects with a `StoreAwayError` if the store cannot be used at the moment, or the worker does not answer,
 * and with a `QueryFailedError` if only this query failed.
 */
export interface DeskCalls extends Reads, Changes, Others {
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

/** The compiler checks that none is missing. */
const NAMES: Readonly<Record<keyof DeskCalls, true>> = {
  readDetails: true,
  readDeletion: true,
  listIncidents: true,
  countStates: true,
  listOccurrences: true,
  listDeployments: true,
  listEnvironments: true,
  changeState: true,
  deleteIncident: true,
  deleteOccurrence: true,
  addNote: true,
  deleteNote: true,
  readChanges: true,
  isKnownDigest: true,
  listBuilds: true,
  readAsset: true,
  listRevalidations: true,
  readSalts: true,
  listNotifications: true,
  storeSession: true,
  hasSession: true,
  endSession: true,
  find: true,
  resolveQuery: true,
  isEchoAwaited: true,
  sendTestNotifications: true,
  settle: true,
  flush: true,
  close: true,
};

/** The names of all calls. */
export const CALLS = Object.keys(NAMES) as (keyof DeskCalls)[];
