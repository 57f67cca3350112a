import { publicError } from '#engine';
import { StoreError } from '../store/sql.ts';
import { toStoreWords } from '../store-words.ts';
import type { DeskCalls } from '../worker/desk-calls.ts';

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
