import { parseAddress } from '../address.ts';
import type { CallAnswer, CallArguments } from '../keeper/calls.ts';
import { LOOKUP_PATIENCE, RETRY_FIRST } from '../limits.ts';
import type { AskStore, ReadCall } from '../pages/read-incident.ts';
import type { Found } from '../store/records.ts';
import type { Store } from '../store/store.ts';

/** The store as the pages ask for it, without a keeper in between. */
export function createAskStore(store: Store): AskStore {
  const handlers: { [Name in ReadCall]: (...args: CallArguments<Name>) => Promise<CallAnswer<Name>> } = {
    find: (text) => find(store, text),
    findNeighbours: (digest, occurrence) => store.findNeighbours(digest, occurrence),
    listHours: (digest) => store.listHours(digest),
    listReleases: (digest) => store.listReleases(digest),
    listBuilds: () => store.listBuilds(),
    listOccurrences: (digest, query) => store.listOccurrences(digest, query),
    listFeedback: (digest, limit) => store.listFeedback(digest, limit),
    listSimilar: (digest, limit) => store.listSimilar(digest, limit),
    listChanges: (digest, limit) => store.listChanges(digest, limit),
    listNotes: (digest, limit) => store.listNotes(digest, limit),
  };
  return (name, ...args) => handlers[name](...args);
}

/** What a replica has journaled may be on its way. */
async function find(store: Store, text: string): Promise<Found | undefined> {
  const address = parseAddress(text);
  if (!address) return undefined;
  const end = performance.now() + LOOKUP_PATIENCE;
  for (;;) {
    const found = await store.find(address);
    if ((found && found.state !== 'unknown') || !store.isShared || performance.now() > end) return found;
    await new Promise((resolve) => setTimeout(resolve, RETRY_FIRST));
  }
}
