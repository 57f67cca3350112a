import type { SentTest } from '../notifications/notifier.ts';
import type { Resolved } from '../store/find-incident.ts';
import type { Heartbeat } from '../store/process-table.ts';
import type { FoundIncident } from '../store/records.ts';
import type { Store } from '../store/store.ts';

/** Reads that include the failures in this process's journal, if those are stored in time. */
export const READS = [
  'countStates',
  'findCommit',
  'findNeighbours',
  'listChanges',
  'listDeployments',
  'listEnvironments',
  'listHours',
  'listIncidents',
  'listKnownIn',
  'listNotes',
  'listOccurrences',
  'listReleases',
  'readDeletion',
] as const satisfies readonly (keyof Store)[];

/** Changes of incidents, which wait longer for the same: such failures can belong to the incident. */
export const CHANGES = [
  'addNote',
  'changeState',
  'deleteIncident',
  'deleteNote',
  'deleteOccurrence',
] as const satisfies readonly (keyof Store)[];

/** Calls that need nothing of the journal. */
export const DIRECT = [
  'createLink',
  'createSession',
  'endSession',
  'isKnownDigest',
  'listBuilds',
  'listNotifications',
  'listRevalidations',
  'readAsset',
  'readChanges',
  'readSalts',
  'readSession',
  'takeLink',
] as const satisfies readonly (keyof Store)[];

type Passed = (typeof READS | typeof CHANGES | typeof DIRECT)[number];

/**
 * What the main thread asks of the desk worker. Each method rejects with a `StoreAwayError` if the store cannot be used at
 * the moment, or the worker does not answer, and with a `QueryFailedError` if only this query failed.
 */
export interface DeskCalls extends Pick<Store, Passed> {
  /** Stores a heartbeat of the main thread. */
  beat(beat: Heartbeat): Promise<void>;
  /**
   * Finds the incident of an address.
   *
   * @param text an address, `7K3QM2XA` or `7K3QM2XA-9F4W0R6B`, in any spelling
   * @param environment all environments by default, first that of this server
   * @throws QueryFailedError if the address is unknown, and may still arrive
   */
  find(text: string, environment?: string): Promise<FoundIncident | undefined>;
  /**
   * Finds the incident that a text names: a digest, an address, a request id or a trace id. Other text becomes a search if
   * nothing is found.
   */
  resolveQuery(text: string): Promise<Resolved | undefined>;
  /** Whether an address is of a server's failure in the last hour that still needs an echo. */
  isEchoAwaited(address: string): Promise<boolean>;
  /** Sends a test notification to each target. */
  sendTestNotifications(): Promise<readonly SentTest[]>;
  /** Waits briefly until everything in the journal is stored. @returns false if something still waits */
  settle(): Promise<boolean>;
  /** Waits until everything in the journal is stored. */
  flush(): Promise<void>;
  /** Called when the process ends on purpose. */
  close(): Promise<void>;
}
