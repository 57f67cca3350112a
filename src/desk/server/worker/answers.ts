import { setTimeout as sleep } from 'node:timers/promises';
import { parseAddress } from '#engine/tracker';
import { CHANGE_PATIENCE, LOOKUP_PATIENCE, RETRY_FIRST, SETTLE_PATIENCE } from '../desk-limits.ts';
import type { Notifier } from '../notifications/notifier.ts';
import type { FoundIncident } from '../store/records.ts';
import { QueryFailedError } from '../store/sql.ts';
import type { Store } from '../store/store.ts';
import type { WithStore } from '../store/store-holder.ts';
import type { DeskCalls } from './desk-calls.ts';
import type { Writer } from './writer.ts';

interface AnswersOptions {
  readonly withStore: WithStore;
  readonly writer: Pick<Writer, 'settle' | 'isBehind' | 'flush'>;
  readonly notifier: Pick<Notifier, 'sendTest'>;
  /** Whether other replicas can write to the store too. */
  readonly isShared: boolean;
  readonly close: () => Promise<void>;
}

const ARRIVING = 'It may be among the failures that are not in the store yet.';

/** Answers the calls of the main thread. Reads and changes include the failures before them, if those are stored in time. */
export function createAnswers({ withStore, writer, notifier, isShared, close }: AnswersOptions): DeskCalls {
  async function read<T>(work: (store: Store) => Promise<T>): Promise<T> {
    await writer.settle(SETTLE_PATIENCE);
    return withStore(work);
  }

  async function change<T>(work: (store: Store) => Promise<T>): Promise<T> {
    await writer.settle(CHANGE_PATIENCE, { evenIfBehind: true });
    return withStore(work);
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
    readDetails: (...args) => read(({ details }) => details.readDetails(...args)),
    readDeletion: (...args) => read(({ history }) => history.readDeletion(...args)),
    listIncidents: (query) => read(({ list }) => list.listIncidents(query)),
    countStates: (filter) => read(({ list }) => list.countStates(filter)),
    listOccurrences: (...args) => read(({ occurrences }) => occurrences.listOccurrences(...args)),
    listDeployments: (environment) => read(({ builds }) => builds.listDeployments(environment)),
    listEnvironments: () => read(({ builds }) => builds.listEnvironments()),

    changeState: (...args) => change(({ changes }) => changes.changeState(...args)),
    deleteIncident: (...args) => change(({ changes }) => changes.deleteIncident(...args)),
    deleteOccurrence: (...args) => change(({ changes }) => changes.deleteOccurrence(...args)),
    addNote: (...args) => change(({ history }) => history.addNote(...args)),
    deleteNote: (...args) => change(({ history }) => history.deleteNote(...args)),

    readChanges: () => withStore((store) => store.readChanges()),
    isKnownDigest: (digest) => withStore(({ finder }) => finder.isKnownDigest(digest)),
    listBuilds: () => withStore(({ builds }) => builds.listBuilds()),
    readAsset: (path) => withStore(({ builds }) => builds.readAsset(path)),
    listRevalidations: (since) => withStore(({ revalidations }) => revalidations.listRevalidations(since)),
    readSalts: (...args) => withStore(({ visitors }) => visitors.readSalts(...args)),
    listNotifications: (limit) => withStore(({ notifications }) => notifications.listNotifications(limit)),
    storeSession: (...args) => withStore(({ sessions }) => sessions.storeSession(...args)),
    hasSession: (idHash) => withStore(({ sessions }) => sessions.hasSession(idHash)),
    endSession: (idHash) => withStore(({ sessions }) => sessions.endSession(idHash)),

    async find(text, environment) {
      const address = parseAddress(text);
      if (!address) return undefined;
      const found = await seek(
        (store) => store.finder.find(address, environment),
        (one) => one !== undefined && !isMissing(one),
      );
      if (!writer.isBehind) return found;
      if (!found) throw new QueryFailedError('arriving', ARRIVING);
      return isMissing(found) ? { ...found, state: 'arriving' } : found;
    },
    resolveQuery(text) {
      const resolve = (store: Store) => store.finder.resolveQuery(text);
      const isAddress = parseAddress(text.trim())?.occurrence !== undefined;
      return isAddress ? seek(resolve, (found) => found !== undefined) : read(resolve);
    },
    /** For callers that strangers can trigger, so it reads at most twice. */
    async isEchoAwaited(address) {
      const known = await read((store) => store.aliases.isEchoAwaited(address));
      if (known !== undefined || !(isShared || writer.isBehind)) return known === true;
      await sleep(RETRY_FIRST);
      return (await withStore((store) => store.aliases.isEchoAwaited(address))) === true;
    },
    sendTestNotifications: () => notifier.sendTest(),
    async settle() {
      await writer.settle(SETTLE_PATIENCE);
      return !writer.isBehind;
    },
    flush: () => writer.flush(),
    close,
  };
}
