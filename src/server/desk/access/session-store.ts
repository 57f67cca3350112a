import type { DeskCalls } from '../worker/desk-calls.ts';

/** The part of the store that sign-in needs. All replicas share it. */
export type SessionStore = Pick<DeskCalls, 'createSession' | 'readSession' | 'endSession' | 'createLink' | 'takeLink'>;
