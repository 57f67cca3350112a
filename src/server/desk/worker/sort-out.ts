import type { JournalEntry } from '../ingest/journal-entry.ts';
import type { Intake } from '../store/ingest/tally.ts';
import type { QueryFailedError } from '../store/sql.ts';

/** A journal entry, and its prepared form for the store. */
export interface PreparedEntry {
  readonly entry: JournalEntry;
  readonly intake: Intake;
}

export interface RefusedEntry extends PreparedEntry {
  readonly error: QueryFailedError;
}

/**
 * Finds the entries of a batch that the store refuses, by trying halves of it. Entries of one digest stay
 * together, because a reason other than a value, such as a locked row, applies to all of them.
 *
 * @param tryOut tries some entries without storing them, and returns the reason if the store refuses them
 * @returns the refused entries
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

/** Groups entries by digest. Feedback and salts are separate groups because they have their own tables. */
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
