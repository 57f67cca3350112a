import { setTimeout as sleep } from 'node:timers/promises';
import { parseAddress } from '#engine/tracker';
import { CHANGE_PATIENCE, LOOKUP_PATIENCE, RETRY_FIRST, SETTLE_PATIENCE } from '../limits.ts';
import type { Notifier } from '../notifications/notifier.ts';
import type { FoundIncident } from '../store/records.ts';
import { QueryFailedError } from '../store/sql.ts';
import type { Store } from '../store/store.ts';
import type { DeskCalls } from './desk-calls.ts';
import type { ProcessRecords } from './process-records.ts';
import type { StoreHolder } from './store-holder.ts';
import type { Writer } from './writer.ts';

interface AnswersOptions {
  readonly holder: Pick<StoreHolder, 'use'>;
  readonly writer: Pick<Writer, 'settle' | 'isBehind' | 'flush'>;
  readonly processes: Pick<ProcessRecords, 'note'>;
  readonly notifier: Pick<Notifier, 'sendTest'>;
  /** Whether other replicas can write to the store too. */
  readonly isShared: boolean;
  readonly close: () => Promise<void>;
}

const ARRIVING = 'It may be among the failures that are not in the store yet.';

/** Answers the calls of the main thread. Reads and changes include the failures before them, if those are stored in time. */
export function createAnswers({ holder, writer, processes, notifier, isShared, close }: AnswersOptions): DeskCalls {
  async function read<T>(work: (store: Store) => Promise<T>): Promise<T> {
    await writer.settle(SETTLE_PATIENCE);
    return holder.use(work);
  }

  async function change<T>(work: (store: Store) => Promise<T>): Promise<T> {
    await writer.settle(CHANGE_PATIENCE, { evenIfBehind: true });
    return holder.use(work);
  }

  /** Reads repeatedly until something arrives: from this process's journal, or from that of another replica. */
  async function seek<T>(work: (store: Store) => Promise<T>, isThere: (found: T) => boolean): Promise<T> {
    const end = performance.now() + LOOKUP_PATIENCE;
    for (;;) {
      const found = await read(work);
      const canChange = writer.isBehind || isShared;
      if (isThere(found) || !canChange || performance.now() > end) return found;
      await sleep(RETRY_FIRST);
    }
  }

  /** An occurrence that was only counted looks like one that is not stored yet. */
  function isMissing({ state }: FoundIncident): boolean {
    return state === 'unknown' || (state === 'sampled' && writer.isBehind);
  }

  return {
    async find(text, environment) {
      const address = parseAddress(text);
      if (!address) return undefined;
      const found = await seek(
        (store) => store.find(address, environment),
        (one) => one !== undefined && !isMissing(one),
      );
      if (!writer.isBehind) return found;
      if (!found) throw new QueryFailedError('arriving', ARRIVING);
      return isMissing(found) ? { ...found, state: 'arriving' } : found;
    },
    resolveQuery(text) {
      const resolve = (store: Store) => store.resolveQuery(text);
      const isAddress = parseAddress(text.trim())?.occurrence !== undefined;
      return isAddress ? seek(resolve, (found) => found !== undefined) : read(resolve);
    },
    /** For callers that strangers can trigger, so it reads at most twice. */
    async isEchoAwaited(address) {
      const known = await read((store) => store.isEchoAwaited(address));
      if (known !== undefined || !(isShared || writer.isBehind)) return known === true;
      await sleep(RETRY_FIRST);
      return (await holder.use((store) => store.isEchoAwaited(address))) === true;
    },
    readDetails: (key, occurrence) => read((store) => store.readDetails(key, occurrence)),
    readDeletion: (digest, environment) => read((store) => store.readDeletion(digest, environment)),
    listIncidents: (query) => read((store) => store.listIncidents(query)),
    countStates: (filter) => read((store) => store.countStates(filter)),
    listOccurrences: (key, query) => read((store) => store.listOccurrences(key, query)),
    listDeployments: (environment) => read((store) => store.listDeployments(environment)),
    listEnvironments: () => read((store) => store.listEnvironments()),

    changeState: (key, to, by) => change((store) => store.changeState(key, to, by)),
    deleteIncident: (key, by) => change((store) => store.deleteIncident(key, by)),
    deleteOccurrence: (key, occurrence, author) => change((store) => store.deleteOccurrence(key, occurrence, author)),
    addNote: (key, text, author) => change((store) => store.addNote(key, text, author)),
    deleteNote: (id, author) => change((store) => store.deleteNote(id, author)),

    readChanges: () => holder.use((store) => store.readChanges()),
    isKnownDigest: (digest) => holder.use((store) => store.isKnownDigest(digest)),
    listBuilds: () => holder.use((store) => store.listBuilds()),
    readAsset: (path) => holder.use((store) => store.readAsset(path)),
    listRevalidations: (since) => holder.use((store) => store.listRevalidations(since)),
    readSalts: (offers) => holder.use((store) => store.readSalts(offers)),
    listNotifications: (limit) => holder.use((store) => store.listNotifications(limit)),
    sendTestNotifications: () => notifier.sendTest(),
    createSession: (idHash, grant, lifeMs) => holder.use((store) => store.createSession(idHash, grant, lifeMs)),
    readSession: (idHash) => holder.use((store) => store.readSession(idHash)),
    endSession: (idHash) => holder.use((store) => store.endSession(idHash)),
    createLink: (idHash, grant) => holder.use((store) => store.createLink(idHash, grant)),
    takeLink: (idHash) => holder.use((store) => store.takeLink(idHash)),

    beat: async (heartbeat) => processes.note(heartbeat),
    async settle() {
      await writer.settle(SETTLE_PATIENCE);
      return !writer.isBehind;
    },
    flush: () => writer.flush(),
    close,
  };
}
