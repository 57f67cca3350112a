import type { CallAnswer, CallArguments, CallName } from '../worker/calls.ts';

type SessionCall = Extract<
  CallName,
  'createSession' | 'readSession' | 'endSession' | 'createLink' | 'takeLink' | 'countAttempts'
>;

/**
 * The part of the store that sign-in needs. All replicas share it. Each method rejects with `StoreAwayError` if the
 * store is unavailable.
 */
export type SessionStore = {
  readonly [Name in SessionCall]: (...args: CallArguments<Name>) => Promise<CallAnswer<Name>>;
};

type Ask = <Name extends SessionCall>(name: Name, ...args: CallArguments<Name>) => Promise<CallAnswer<Name>>;

/** Calls the store through the desk worker. */
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
