import { expect, it, onTestFinished } from 'vitest';
import { openPostgres } from '../../../src/desk/server/store/postgres.ts';
import { createPostgresDatabase } from '../../support/postgres.ts';
import { createFailure } from '../support/desk.ts';
import { useDesk } from '../support/use-desk.ts';

const PATIENCE = { timeout: 40_000, interval: 50 };

/** A desk whose PostgreSQL is controlled by another administrator. */
async function openTroubled() {
  const url = await createPostgresDatabase();
  const admin = openPostgres(url);
  onTestFinished(() => admin.close());
  const role = `poor${new URL(url).pathname.slice(1)}`;
  await admin.run(`CREATE ROLE ${role} LOGIN PASSWORD 'poor'`);
  await admin.run(`CREATE SCHEMA ${role} AUTHORIZATION ${role}`);
  await admin.run(`ALTER ROLE ${role} SET search_path = ${role}`);
  const counts = new Map<string, number>();
  const { desk, lines } = await useDesk({
    databaseUrl: url.replace('spillway:spillway@', `${role}:poor@`),
    // Short enough that six attempts take less than a second.
    retryFirst: 20,
    count: (name, labels, by = 1) => {
      const key = [name, ...Object.values(labels)].join(' ');
      counts.set(key, (counts.get(key) ?? 0) + by);
    },
  });
  await desk.calls.readChanges();
  await desk.calls.flush();
  const logged = (words: string) => lines.filter(({ message }) => message.includes(words));
  return {
    ...{ desk, role, counts, logged, admin },
    /** @returns a function that grants them again */
    async revoke(table: string) {
      await admin.run(`REVOKE ALL ON ${role}.${table} FROM ${role}`);
      return () => admin.run(`GRANT ALL ON ${role}.${table} TO ${role}`);
    },
    async stored() {
      const [row] = await admin.all<{ count: number }>(
        `SELECT COALESCE(SUM(server_count), 0) AS count FROM ${role}.desk_incidents`,
      );
      return row?.count;
    },
    /** Counts how often the store became unavailable or available again. */
    flaps: () => [...logged('store cannot be used'), ...logged('store is back')].length,
  };
}

const RETRIED = 'spillway_journal_refused_total retried';
const DROPPED = 'spillway_journal_refused_total dropped';

it.each(['desk_incidents', 'desk_journals'])(
  'a missing privilege keeps failures in the journal until it is granted again: %s',
  async (table) => {
    const site = await openTroubled();
    const grant = await site.revoke(table);
    for (let index = 0; index < 12; index += 1) site.desk.journal(createFailure());
    await expect.poll(() => site.counts.get(RETRIED) ?? 0, PATIENCE).toBeGreaterThan(2);
    expect(site.desk.condition).toEqual({ store: 'reachable', journal: 'written', worker: 'running' });
    expect(site.desk.waitingBytes).toBeGreaterThan(0);
    await grant();
    await expect.poll(site.stored, PATIENCE).toBe(12);
    expect(site.counts.get(DROPPED)).toBeUndefined();
    expect(site.flaps()).toBe(0);
  },
);

it.each(['SET default_transaction_read_only = on', 'CONNECTION LIMIT 0'])(
  'a store that takes no writes is away, and its journal waits: %s',
  async (refusal) => {
    const site = await openTroubled();
    await site.admin.run(`ALTER ROLE ${site.role} ${refusal}`);
    await site.admin.all(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${site.role}'`);
    await expect.poll(() => site.desk.condition.store, PATIENCE).toBe('away');
    await new Promise((resolve) => setTimeout(resolve, 7000)); // in which it connects again, and heartbeats are due
    site.desk.journal(createFailure());
    expect([site.desk.condition.store, site.logged('store is back')]).toEqual(['away', []]);
    await site.admin.run(`ALTER ROLE ${site.role} RESET default_transaction_read_only`);
    await site.admin.run(`ALTER ROLE ${site.role} CONNECTION LIMIT -1`);
    // Connections that were opened before this stay read-only, as those to the old writer after a failover.
    await expect.poll(site.stored, PATIENCE).toBe(1);
    await expect.poll(() => site.desk.condition.store, PATIENCE).toBe('reachable');
    // The worker logs after it has told its condition.
    await expect.poll(() => site.logged('store is back').length, PATIENCE).toBe(1);
    expect(site.logged('failures wait').length + site.logged('Failures wait').length).toBe(1);
  },
  60_000,
);

it('logs failures that the store keeps refusing, and stores the others', async () => {
  const site = await openTroubled();
  await site.admin.run(`CREATE FUNCTION ${site.role}.refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN IF NEW.digest = '00000001' THEN RAISE EXCEPTION 'not this one'; END IF; RETURN NEW; END $$`);
  await site.admin.run(`CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON ${site.role}.desk_incidents
    FOR EACH ROW EXECUTE FUNCTION ${site.role}.refuse()`);
  for (const digest of ['00000000', '00000001', '00000002', '00000001', '00000003']) {
    site.desk.journal(createFailure({ digest }));
  }
  await expect.poll(site.stored, PATIENCE).toBe(3);
  // The worker logs after it has stored.
  await expect.poll(() => site.logged('keeps refusing').length, PATIENCE).toBe(2);
  expect(site.counts.get(DROPPED)).toBe(2);
  expect(site.logged('keeps refusing')).toMatchObject([
    { fields: { reason: expect.stringContaining('not this one'), entry: { full: { digest: '00000001' } } } },
    { fields: { entry: { full: { digest: '00000001' } } } },
  ]);
  expect(site.flaps()).toBe(0);
}, 60_000);
