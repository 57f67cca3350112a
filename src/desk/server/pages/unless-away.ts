import { publicError } from '#engine';
import { QueryFailedError, type QueryFailure, StoreError } from '../store/sql.ts';
import type { DeskCalls } from '../worker/desk-calls.ts';

export const AWAY =
  'The desk’s store is unavailable. New failures are recorded, and will appear here when the store is back.';

const SLOW = 'The desk’s database took too long to answer. Try again in a moment. See the server’s log for details.';
const REFUSED = 'The desk’s database refused a query. See the server’s log for the reason.';

const FAILED: Readonly<Record<QueryFailure, string>> = {
  value: REFUSED,
  refused: REFUSED,
  slow: SLOW,
  busy: SLOW,
  arriving: 'This failure may not be stored yet, because many are arriving. Try again in a moment.',
};

/** Returns the message for operators. The error's own message can reveal too much. */
export function toStoreWords(error: StoreError): string {
  return error instanceof QueryFailedError ? FAILED[error.reason] : AWAY;
}

/** Returns the calls of pages, which answer 503 with a sentence if the store fails. */
export function toPageCalls(calls: DeskCalls): DeskCalls {
  return Object.fromEntries(
    Object.entries(calls).map(([name, call]) => [name, (...args: never[]) => unlessAway(call(...args))]),
  ) as unknown as DeskCalls; // the same methods
}

/** Answers 503 with a sentence if the store fails, because the desk is not at fault. */
export async function unlessAway<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof StoreError) publicError(503, toStoreWords(error));
    throw error;
  }
}
