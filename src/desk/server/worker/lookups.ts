import { parseAddress } from '../../../server/errors/parse-address.ts';
import { CHANGE_PATIENCE, LOOKUP_PATIENCE, RETRY_FIRST, SETTLE_PATIENCE } from '../limits.ts';
import type { FoundIncident } from '../store/records.ts';
import { QueryFailedError } from '../store/sql.ts';
import type { Store } from '../store/store.ts';
import type { DeskCalls } from './desk-calls.ts';
import type { StoreHolder } from './store-holder.ts';
import type { Writer } from './writer.ts';

interface LookupsOptions {
  readonly holder: Pick<StoreHolder, 'use'>;
  readonly writer: Pick<Writer, 'settle' | 'isBehind'>;
  /** Whether other replicas can write to the store too. */
  readonly isShared: boolean;
}

const ARRIVING = 'It may be among the failures that are not in the store yet.';

/** Reads and changes the store after the failures that happened before the call are stored, if that is soon enough. */
export function createLookups({ holder, writer, isShared }: LookupsOptions) {
  async function read<T>(ask: (store: Store) => Promise<T>): Promise<T> {
    await writer.settle(SETTLE_PATIENCE);
    return holder.use(ask);
  }

  async function change<T>(work: (store: Store) => Promise<T>): Promise<T> {
    await writer.settle(CHANGE_PATIENCE, { evenIfBehind: true });
    return holder.use(work);
  }

  /** Reads repeatedly until something arrives: from this process's journal, or from that of another replica. */
  async function seek<T>(ask: (store: Store) => Promise<T>, isThere: (found: T) => boolean): Promise<T> {
    const end = performance.now() + LOOKUP_PATIENCE;
    for (;;) {
      const found = await read(ask);
      const canChange = writer.isBehind || isShared;
      if (isThere(found) || !canChange || performance.now() > end) return found;
      await sleep(RETRY_FIRST);
    }
  }

  /** An occurrence that was only counted looks like one that is not stored yet. */
  function isMissing({ state }: FoundIncident): boolean {
    return state === 'unknown' || (state === 'sampled' && writer.isBehind);
  }

  const calls: Pick<DeskCalls, 'find' | 'resolveQuery' | 'isEchoAwaited'> = {
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
  };

  return { ...calls, read, change };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
