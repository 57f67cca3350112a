import { publicError } from '../../../shared/engine/outcome.ts';
import { StoreAwayError } from '../store/sql.ts';

export const AWAY =
  'The desk’s store cannot be reached, so nothing can be looked up. What fails meanwhile is kept, and appears here when it is back.';

/** Says that the store is away in the place of a failure: there is nothing to mend in the desk. */
export async function unlessAway<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof StoreAwayError) publicError(503, AWAY);
    throw error;
  }
}
