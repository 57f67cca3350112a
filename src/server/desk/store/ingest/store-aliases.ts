import { insertRows, type Sql } from '../sql.ts';
import { toColumn } from '../to-column.ts';
import type { Intake } from './tally.ts';

/** An address that was shown to a visitor, and the digest or address that it leads to. */
interface Alias {
  readonly digest: string;
  /** Empty for all occurrences. */
  readonly occurrence: string;
  /** A digest or an address. */
  readonly target: string;
  readonly reason: 'resolved' | 'echo';
  readonly at: number;
}

/**
 * Lists the aliases of a batch: for failures that were shown under another digest than they have now, and
 * for echoes. An address with a stored occurrence gets no alias, because browsers choose the ids of their
 * events and could take over other addresses.
 */
export async function listNewAliases(sql: Sql, entries: readonly Intake[]): Promise<readonly Alias[]> {
  const aliases = entries.flatMap((intake) => (intake.entry === 'whole' ? listAliases(intake) : []));
  if (aliases.length === 0) return [];
  const taken = await sql.all<Pick<Alias, 'digest' | 'occurrence'>>(
    `SELECT digest, occurrence FROM desk_occurrences WHERE (digest, occurrence) IN (VALUES ${aliases.map(() => '(?, ?)').join(', ')})`,
    aliases.flatMap(({ digest, occurrence }) => [digest, occurrence]),
  );
  const names = new Set(taken.map(({ digest, occurrence }) => `${digest} ${occurrence}`));
  return aliases.filter(({ digest, occurrence }) => !names.has(`${digest} ${occurrence}`));
}

function listAliases({ failure, shownAs = failure.digest }: Extract<Intake, { entry: 'whole' }>): Alias[] {
  const { digest, occurrence, at, echoOf } = failure;
  if (echoOf !== undefined) return [{ digest: shownAs, occurrence, target: echoOf, reason: 'echo', at }];
  if (shownAs === digest) return [];
  // Only for this occurrence, because others with the same shown digest can belong to other incidents.
  return [{ digest: shownAs, occurrence, target: digest, reason: 'resolved', at }];
}

export async function storeAliases(sql: Sql, aliases: readonly Alias[]): Promise<void> {
  const rows = aliases.map(({ digest, occurrence, target, reason, at }) => ({
    digest: toColumn(digest),
    occurrence: toColumn(occurrence),
    target: toColumn(target),
    reason,
    at,
  }));
  await insertRows(sql, 'desk_aliases', rows, 'ON CONFLICT (digest, occurrence) DO NOTHING');
}
