import type { Sql } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';

/**
 * A number that grows with each batch that is taken in and with each change that somebody makes, over
 * all replicas: whoever shows counts live compares it, and reads again only where it grew.
 */
export async function readChanges({ quick }: StoreContext): Promise<number> {
  const [row] = await quick.all<{ value: string }>("SELECT value FROM desk_meta WHERE name = 'changes'");
  return Number(row?.value ?? 0);
}

/** The last statement of a transaction: replicas wait for each other from here to its end. */
export async function noteChange(sql: Sql): Promise<void> {
  await sql.run("UPDATE desk_meta SET value = CAST(CAST(value AS BIGINT) + 1 AS TEXT) WHERE name = 'changes'");
}

/** A transaction that changes what the desk's pages show. */
export function changeShown<T>({ driver }: Pick<StoreContext, 'driver'>, work: (sql: Sql) => Promise<T>): Promise<T> {
  return driver.transaction(async (sql) => {
    const outcome = await work(sql);
    await noteChange(sql);
    return outcome;
  });
}

export const queries = { readChanges };
