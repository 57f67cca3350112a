import type { Operator } from '../../access/operator-tokens.ts';
import { MAX_CACHED_SESSIONS, SESSION_CACHE_TIME } from '../limits.ts';

/** Recent answers of the store about sessions, in this process. */
interface SessionCache {
  /**
   * Returns the holder of a session. Returns a promise only if the store was not asked in the last 2 s, or has not
   * answered yet. Requests that arrive together share one call.
   */
  read(id: string): Operator | undefined | Promise<Operator | undefined>;
  /** Always asks the store. */
  ask(id: string): Promise<Operator | undefined>;
  forget(id: string): void;
}

interface Entry {
  /** Milliseconds. */
  readonly askedAt: number;
  readonly promise: Promise<Operator | undefined>;
  answer?: { readonly operator: Operator | undefined };
}

interface SessionCacheOptions {
  /** Asks the store. */
  readonly readSession: (id: string) => Promise<Operator | undefined>;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

export function createSessionCache({ readSession, now = () => performance.now() }: SessionCacheOptions): SessionCache {
  const entries = new Map<string, Entry>();

  function ask(id: string): Promise<Operator | undefined> {
    const promise = readSession(id);
    const entry: Entry = { askedAt: now(), promise };
    entries.delete(id); // a map keeps the order of insertion: the oldest is the first
    entries.set(id, entry);
    const [oldest] = entries.keys();
    if (entries.size > MAX_CACHED_SESSIONS && oldest !== undefined) entries.delete(oldest);
    promise.then(
      (operator) => {
        entry.answer = { operator };
      },
      () => {
        // An unavailable store says nothing about the session.
        if (entries.get(id) === entry) entries.delete(id);
      },
    );
    return promise;
  }

  return {
    read(id) {
      const entry = entries.get(id);
      if (!entry || now() - entry.askedAt >= SESSION_CACHE_TIME) return ask(id);
      return entry.answer ? entry.answer.operator : entry.promise;
    },
    ask,
    forget: (id) => void entries.delete(id),
  };
}
