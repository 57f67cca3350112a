import type { Sql } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';

/**
 * Returns a number that grows with each stored batch and each change, on any replica. Live pages poll it
 * and reload only when it has grown.
 */
export async function readChanges({ quick }: StoreContext): Promise<number> {
  const [row] = await quick.all<{ value: string }>("SELECT value FROM desk_meta WHERE name = 'changes'");
  return Number(row?.value ?? 0);
}

/** Increments that number. Call it last in a transaction, because replicas wait for this row until the commit. */
export async function noteChange(sql: Sql): Promise<void> {
  await sql.run("UPDATE desk_meta SET value = CAST(CAST(value AS BIGINT) + 1 AS TEXT) WHERE name = 'changes'");
}

/** Runs a transaction that changes what the desk's pages show. */
export function changeShown<T>({ driver }: Pick<StoreContext, 'driver'>, work: (sql: Sql) => Promise<T>): Promise<T> {
  return driver.transaction(async (sql) => {
    const outcome = await work(sql);
    await noteChange(sql);
    return outcome;
  });
}

export const queries = { readChanges };
