import type { JournalEntry } from '../ingest/journal-entry.ts';
import type { Intake } from '../store/ingest/tally.ts';
import type { QueryFailedError } from '../store/sql.ts';

/** A line of a journal, and what is stored of it. */
export interface PreparedEntry {
  readonly entry: JournalEntry;
  readonly intake: Intake;
}

export interface RefusedEntry extends PreparedEntry {
  readonly error: QueryFailedError;
}

/**
 * Finds those entries of a batch that the store refuses, by trying halves of it. Entries of one digest
 * stay together, because what refuses one of them for another reason than its values, such as a locked
 * row, refuses them all.
 *
 * @param tryOut tries some of them and leaves the store as it was. @returns why it refused them
 * @returns the refused ones
 */
export async function sortOut(
  batch: readonly PreparedEntry[],
  tryOut: (intakes: readonly Intake[]) => Promise<QueryFailedError | undefined>,
): Promise<readonly RefusedEntry[]> {
  const refused: RefusedEntry[] = [];

  async function look(some: readonly PreparedEntry[]): Promise<void> {
    const error = some.length === 0 ? undefined : await tryOut(some.map(({ intake }) => intake));
    if (!error) return;
    if (some.length === 1 || (error.reason !== 'value' && isOneGroup(some))) {
      refused.push(...some.map((one) => ({ ...one, error })));
      return;
    }
    const middle = Math.ceil(some.length / 2);
    await look(some.slice(0, middle));
    await look(some.slice(middle));
  }

  await look(batch.toSorted((left, right) => (toGroup(left) < toGroup(right) ? -1 : 1)));
  return refused;
}

function isOneGroup(some: readonly PreparedEntry[]): boolean {
  const [first] = some;
  const last = some.at(-1);
  return first !== undefined && last !== undefined && toGroup(first) === toGroup(last);
}

/** Feedback and salts have their own tables. */
function toGroup({ intake }: PreparedEntry): string {
  switch (intake.entry) {
    case 'whole':
      return intake.failure.digest;
    case 'thin':
      return intake.thin.digest;
    case 'count':
      return intake.record.digest;
    case 'feedback':
    case 'salt':
      return `~${intake.entry}`;
  }
}
