import type { KeeperCalls } from '../keeper/calls.ts';

type PassCalls = Pick<KeeperCalls, 'storePass' | 'findPass' | 'takePass' | 'countTry' | 'forgiveTry'>;

/** Where sessions, tickets and tries are kept, the same for all replicas. Each method rejects with a `StoreAwayError` where it cannot be used. */
export type PassStore = {
  readonly [Name in keyof PassCalls]: (...args: Parameters<PassCalls[Name]>) => Promise<ReturnType<PassCalls[Name]>>;
};

export function createPassStore(ask: Ask): PassStore {
  return {
    storePass: (pass, now) => ask('storePass', pass, now),
    findPass: (kind, key, now) => ask('findPass', kind, key, now),
    takePass: (kind, key, now) => ask('takePass', kind, key, now),
    countTry: (sender, minute) => ask('countTry', sender, minute),
    forgiveTry: (sender, minute) => ask('forgiveTry', sender, minute),
  };
}

type Ask = <Name extends keyof PassCalls>(
  name: Name,
  ...args: Parameters<PassCalls[Name]>
) => Promise<ReturnType<PassCalls[Name]>>;
