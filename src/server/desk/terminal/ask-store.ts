import { parseAddress } from '../../engine/errors/parse-address.ts';
import { LOOKUP_PATIENCE, RETRY_FIRST } from '../limits.ts';
import type { Found } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import type { AskStore, ReadCall } from '../views/read-incident.ts';
import type { CallAnswer, CallArguments } from '../worker/calls.ts';

/** Answers the pages' calls directly from the store, without a desk worker. */
export function createAskStore(store: Store): AskStore {
  const handlers: { [Name in ReadCall]: (...args: CallArguments<Name>) => Promise<CallAnswer<Name>> } = {
    find: (text, environment) => find(store, text, environment),
    readDeletion: (digest, environment) => store.readDeletion(digest, environment),
    findNeighbours: (key, occurrence) => store.findNeighbours(key, occurrence),
    listHours: (key) => store.listHours(key),
    listReleases: (key) => store.listReleases(key),
    listDeployments: (environment) => store.listDeployments(environment),
    listKnownIn: (digest) => store.listKnownIn(digest),
    listOccurrences: (key, query) => store.listOccurrences(key, query),
    listFeedback: (key, limit) => store.listFeedback(key, limit),
    listSimilar: (key, limit) => store.listSimilar(key, limit),
    listChanges: (key, limit) => store.listChanges(key, limit),
    listNotes: (key, limit) => store.listNotes(key, limit),
    findCommit: (key, build, places) => store.findCommit(key, build, places),
  };
  return (name, ...args) => handlers[name](...args);
}

/** Retries on a shared store, because another replica may still be storing what it has journaled. */
async function find(store: Store, text: string, environment: string | undefined): Promise<Found | undefined> {
  const address = parseAddress(text);
  if (!address) return undefined;
  const end = performance.now() + LOOKUP_PATIENCE;
  for (;;) {
    const found = await store.find(address, environment);
    if ((found && found.state !== 'unknown') || !store.isShared || performance.now() > end) return found;
    await new Promise((resolve) => setTimeout(resolve, RETRY_FIRST));
  }
}
