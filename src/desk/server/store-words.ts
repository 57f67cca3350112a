import { QueryFailedError, type QueryFailure, type StoreError } from './store/sql.ts';

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
