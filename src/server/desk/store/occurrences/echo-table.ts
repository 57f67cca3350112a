import { parseAddress } from '../../../engine/errors/parse-address.ts';
import { ECHO_AGE } from '../../../reports/tunnel/echoes.ts';
import { toAliasTarget, toKeyIn } from '../incident-key.ts';
import type { Intake } from '../ingest/tally.ts';
import { placeholders, type Sql } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';

/**
 * Reports whether a server's failure of the last hour still lacks an echo, so that one can be stored. A
 * stored echo is an alias of the failure with the reason `echo`.
 *
 * @returns undefined if the store does not have that failure
 */
export async function readAwaited(
  { reader, environment, home }: StoreContext,
  text: string,
): Promise<boolean | undefined> {
  const { digest, occurrence } = parseAddress(text) ?? {};
  if (digest === undefined || occurrence === undefined) return undefined;
  const key = toKeyIn(digest, environment, home);
  const [row] = await reader.all<{ has_echo: number }>(
    `SELECT CASE WHEN EXISTS (SELECT 1 FROM desk_aliases a WHERE a.target = ? AND a.reason = 'echo') THEN 1 ELSE 0 END AS has_echo
      FROM desk_occurrences WHERE digest = ? AND occurrence = ? AND side = 'server' AND at > ${reader.dialect.now} - ?`,
    [toAliasTarget(key, occurrence), key, occurrence, ECHO_AGE],
  );
  return row && row.has_echo === 0;
}

/**
 * Leaves out echoes of failures that the store does not have, and second echoes. The tunnel has already
 * checked, but two replicas can check at the same time, and a journal can be from an earlier release.
 *
 * @param entries with keys instead of digests
 */
export async function withoutUnfoundedEchoes(sql: Sql, entries: readonly Intake[]): Promise<readonly Intake[]> {
  const targets = [...new Set(entries.flatMap((intake) => readTarget(intake) ?? []))];
  if (targets.length === 0) return entries;
  const some = placeholders(targets);
  const stored = await sql.all<{ target: string }>(
    `SELECT target FROM desk_aliases WHERE reason = 'echo' AND target IN (${some})`,
    targets,
  );
  const taken = new Set(stored.map(({ target }) => target));
  const seen = await listSeen(sql, entries, targets);
  return entries.filter((intake) => {
    const target = readTarget(intake);
    if (target === undefined) return true;
    const isFounded = seen.has(target) && !taken.has(target);
    taken.add(target);
    return isFounded;
  });
}

/** Returns the targets that a server saw, in the store or in the same batch. */
async function listSeen(sql: Sql, entries: readonly Intake[], targets: readonly string[]): Promise<Set<string>> {
  const seen = new Set(entries.flatMap((intake) => readServerTarget(intake) ?? []));
  const names = targets.flatMap((target) => (seen.has(target) ? [] : [target.slice(NAME_START, NAME_END)]));
  if (names.length === 0) return seen;
  const rows = await sql.all<{ digest: string; occurrence: string }>(
    `SELECT digest, occurrence FROM desk_occurrences WHERE side = 'server' AND occurrence IN (${placeholders(names)})`,
    names,
  );
  for (const { digest, occurrence } of rows) seen.add(toAliasTarget(digest, occurrence));
  return seen;
}

/** The position of the second half in `7K3QM2XA-9F4W0R6B`. */
const NAME_START = 9;
const NAME_END = 17;

function readTarget(intake: Intake): string | undefined {
  return intake.entry === 'whole' ? intake.failure.echoOf : undefined;
}

function readServerTarget(intake: Intake): string | undefined {
  if (intake.entry !== 'whole' && intake.entry !== 'thin') return undefined;
  const { side, digest, occurrence } = intake.entry === 'whole' ? intake.failure : intake.thin;
  return side === 'server' ? toAliasTarget(digest, occurrence) : undefined;
}

export const queries = { readAwaited };
