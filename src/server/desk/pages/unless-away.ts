import { publicError } from '../../../shared/engine/routing/control-flow.ts';
import { QueryFailedError, type QueryFailure, StoreError } from '../store/sql.ts';

export const AWAY =
  'The desk’s store cannot be reached, so nothing can be looked up. What fails meanwhile is kept, and appears here when it is back.';

const SLOW = 'The desk’s database took too long to answer. Try again in a moment. The server’s log says more.';
const REFUSED = 'The desk’s database refused a query that this needs. The server’s log says why.';

const FAILED: Readonly<Record<QueryFailure, string>> = {
  value: REFUSED,
  refused: REFUSED,
  slow: SLOW,
  busy: SLOW,
  arriving: 'This failure may not be stored yet, because many are arriving. Try again in a moment.',
};

/** The message for operators. That of the error itself may say too much. */
export function toStoreWords(error: StoreError): string {
  return error instanceof QueryFailedError ? FAILED[error.reason] : AWAY;
}

/** Answers 503 with a sentence if the store fails: there is nothing to fix in the desk. */
export async function unlessAway<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof StoreError) publicError(503, toStoreWords(error));
    throw error;
  }
}
