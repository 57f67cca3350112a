import type { TestResult } from '../../shared/actions.ts';
import type { IncidentState } from '../../shared/shapes.ts';
import type { Salt } from '../ingest/visitors.ts';
import type { KnownBuild } from '../store/build-table.ts';
import type { ChangeBy, ChangeOutcome, DeleteOutcome, StateChange } from '../store/change-incident.ts';
import type { Resolved } from '../store/find-incident.ts';
import type { Deletion, Note } from '../store/history-table.ts';
import type { IncidentDetails } from '../store/incident-details.ts';
import type { IncidentKey } from '../store/incident-key.ts';
import type { IncidentFilter, IncidentPage, IncidentQuery } from '../store/list-incidents.ts';
import type { NotificationRecord } from '../store/notification-table.ts';
import type { OccurrencePage, OccurrenceQuery } from '../store/occurrence-table.ts';
import type { Heartbeat } from '../store/process-table.ts';
import type { FoundIncident } from '../store/records.ts';
import type { ChangedPages } from '../store/revalidation-table.ts';
import type { Grant } from '../store/session-table.ts';

/**
 * The calls from the main thread to the desk worker, which implements them in `answers.ts`. Each method rejects with a
 * `StoreAwayError` if the store cannot be used at the moment, or the worker does not answer, and with a `QueryFailedError`
 * if only this query failed.
 */
export interface DeskCalls {
  // Reads. They include the failures in this process's journal, if those are stored in time.

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
  /**
   * Reads everything that the page of an incident shows.
   *
   * @param occurrence the occurrence to show, or the nearest full one. Undefined for the latest full one
   */
  readDetails(key: IncidentKey, occurrence: string | undefined): Promise<IncidentDetails>;
  /** Finds the latest deletion of an incident. @param environment that of this server by default */
  readDeletion(digest: string, environment?: string): Promise<Deletion | undefined>;
  /** Returns one page of the list. @throws RangeError if the cursor is not valid for this order */
  listIncidents(query: IncidentQuery): Promise<IncidentPage>;
  /** Counts the incidents in each state that match the rest of the filter. */
  countStates(filter: IncidentFilter): Promise<Readonly<Record<IncidentState, number>>>;
  /** Returns one page of an incident's occurrences, the latest first. @throws RangeError if the cursor is not valid */
  listOccurrences(key: IncidentKey, query: OccurrenceQuery): Promise<OccurrencePage>;
  /** Lists the builds that were started in an environment, the latest first. */
  listDeployments(environment: string): Promise<KnownBuild[]>;
  /** Lists the environments that used the store, sorted. */
  listEnvironments(): Promise<string[]>;
  /** Whether an address is of a server's failure in the last hour that still needs an echo. */
  isEchoAwaited(address: string): Promise<boolean>;

  // Changes. They wait longer for the journal, because the failures in it can belong to the incident.

  changeState(key: IncidentKey, to: StateChange, by: ChangeBy): Promise<ChangeOutcome>;
  /** Deletes an incident with its counts. If it happens again, it is a new incident. */
  deleteIncident(key: IncidentKey, by: ChangeBy): Promise<DeleteOutcome>;
  /** Deletes one occurrence. The counts stay. @returns false if the store does not have it */
  deleteOccurrence(key: IncidentKey, occurrence: string, author: string): Promise<boolean>;
  /** @returns undefined if there is no such incident */
  addNote(key: IncidentKey, text: string, author: string): Promise<Note | undefined>;
  /** @returns false if it is already deleted */
  deleteNote(id: number, author: string): Promise<boolean>;

  // What needs nothing of the journal

  /** Returns a number that grows with each change of what the desk's pages show, on any replica. */
  readChanges(): Promise<number>;
  /** Reports whether a digest leads to an incident in this environment, directly or by an alias. */
  isKnownDigest(digest: string): Promise<boolean>;
  /** Lists the builds of all environments. Events from unknown builds are not trusted. */
  listBuilds(): Promise<KnownBuild[]>;
  /** Returns an asset from any build that has it. @param path in `dist` */
  readAsset(path: string): Promise<Uint8Array | undefined>;
  /** Lists the pages that have changed since a time, some of them again. @param since the `now` of the last call, or 0 */
  listRevalidations(since: number): Promise<ChangedPages>;
  /** Returns the salts that all replicas use for the days of these offers. */
  readSalts(offers: readonly Salt[]): Promise<Salt[]>;
  /** Lists notifications, the latest first. */
  listNotifications(limit: number): Promise<NotificationRecord[]>;
  /** Sends a test notification to each target. */
  sendTestNotifications(): Promise<readonly TestResult[]>;
  /** @param idHash the hash of the cookie's id. @param lifeMs how long the session is valid (ms) */
  createSession(idHash: string, grant: Grant, lifeMs: number): Promise<void>;
  /** @returns undefined if there is no such session, or it has ended */
  readSession(idHash: string): Promise<Grant | undefined>;
  /** @returns whether the session existed */
  endSession(idHash: string): Promise<boolean>;
  /** Stores a sign-in link. @param idHash the hash of the id in the link */
  createLink(idHash: string, grant: Grant): Promise<void>;
  /** Uses and deletes a link. @returns undefined if it is unknown, used, or older than 15 minutes */
  takeLink(idHash: string): Promise<Grant | undefined>;

  // The worker itself

  /** Stores a heartbeat of the main thread. */
  beat(heartbeat: Heartbeat): Promise<void>;
  /** Waits briefly until everything in the journal is stored. @returns false if something still waits */
  settle(): Promise<boolean>;
  /** Waits until everything in the journal is stored. */
  flush(): Promise<void>;
  /** Called when the process ends on purpose. */
  close(): Promise<void>;
}
