import type { CallAnswer, CallArguments, CallName } from '../worker/calls.ts';

type SessionCall = Extract<
  CallName,
  'createSession' | 'readSession' | 'endSession' | 'createLink' | 'takeLink' | 'countAttempts'
>;

/** What signing in needs of the store, which is the same for all replicas. Each method rejects with a `StoreAwayError` where it cannot be used. */
export type SessionStore = {
  readonly [Name in SessionCall]: (...args: CallArguments<Name>) => Promise<CallAnswer<Name>>;
};

type Ask = <Name extends SessionCall>(name: Name, ...args: CallArguments<Name>) => Promise<CallAnswer<Name>>;

/** The store behind the desk worker. */
export function createSessionStore(ask: Ask): SessionStore {
  return {
    createSession: (...args) => ask('createSession', ...args),
    readSession: (...args) => ask('readSession', ...args),
    endSession: (...args) => ask('endSession', ...args),
    createLink: (...args) => ask('createLink', ...args),
    takeLink: (...args) => ask('takeLink', ...args),
    countAttempts: (...args) => ask('countAttempts', ...args),
  };
}
