import { expect, it } from 'vitest';
import type { NotificationRules } from '../../../../src/server/desk/store/notification-rules.ts';
import type { SqlDriver } from '../../../../src/server/desk/store/sql.ts';
import { openStore, type Store } from '../../../../src/server/desk/store/store.ts';
import { describeStores, summaryOf, fullOf } from '../../../support/stores.ts';

const news: NotificationRules = { after: [{ count: 1 }], targets: [{ id: 'hook', name: 'Webhook' }] };
const by = { author: 'ada' };
const DIGEST = '7K3QM2XA';
const inProduction = `${DIGEST}@production`;
const inStaging = `${DIGEST}@staging`;

/** The store as a process of each environment sees it. */
async function openBoth(driver: SqlDriver, production: Store): Promise<Record<'production' | 'staging', Store>> {
  return { production, staging: await openStore(driver, { environment: 'staging', news }) };
}

async function claimAll(store: Store): Promise<string[]> {
  const told: string[] = [];
  for (;;) {
    const claimed = await store.claimNotification({ id: 'hook', name: 'Webhook' });
    if (!claimed) return told;
    await store.settleNotification(claimed.notification, { ok: true, words: 'OK' });
    told.push(`${claimed.notification.kind} in ${claimed.incident?.environment}`);
  }
}

describeStores('environments', (open) => {
  const start = async () => {
    const { store, driver } = await open(news);
    return { driver, ...(await openBoth(driver, store)) };
  };

  it('each send their own notification of a failure, in any order of first occurrence', async () => {
    const { production, staging } = await start();
    await staging.ingest({ entries: [fullOf()] });
    expect(await claimAll(production)).toEqual([]);
    await production.ingest({ entries: [fullOf()] });
    expect(await claimAll(production)).toEqual(['new in production']);
    expect(await claimAll(staging)).toEqual(['new in staging']);
    await staging.ingest({ entries: [fullOf()] });
    expect(await claimAll(staging)).toEqual([]);
  });

  it('have separate states, counts, releases and notes', async () => {
    const { production, staging } = await start();
    await production.useBuild({ id: 'build-1', release: 'v1' });
    await production.ingest({ entries: [fullOf(), fullOf()] });
    await production.changeIncident(inProduction, { to: { state: 'resolved', in: 'next' } }, by);
    await production.addNote(inProduction, 'Mended.', 'ada');
    // The next release runs in staging first, where the failure is known too.
    await staging.useBuild({ id: 'build-2', release: 'v2' });
    await staging.ingest({ entries: [fullOf({ build: 'build-2', release: 'v2' })] });
    const read = async (environment: string) => (await production.find({ digest: DIGEST }, environment))?.incident;
    expect(await read('production')).toMatchObject({ state: 'resolved', counts: { server: 2 }, lastRelease: 'v1' });
    expect(await read('staging')).toMatchObject({ state: 'open', counts: { server: 1 }, lastRelease: 'v2' });
    expect(await production.listNotes(inStaging, 9)).toEqual([]);
    expect((await production.listDeployments('production')).map(({ release }) => release)).toEqual(['v1']);
    expect((await production.listDeployments('staging')).map(({ release }) => release)).toEqual(['v2']);

    // Deployed to production, the release makes it a regression there.
    await production.useBuild({ id: 'build-2', release: 'v2' });
    await production.ingest({ entries: [fullOf({ build: 'build-2', release: 'v2', at: Date.now() + 5 })] });
    expect(await read('production')).toMatchObject({ state: 'open', regressed: { release: 'v2' } });
    expect(await production.listKnownIn(DIGEST)).toEqual(['production', 'staging']);
  });

  it('are listed, counted, searched, merged and deleted one at a time', async () => {
    const { production, staging } = await start();
    await production.ingest({ entries: [fullOf({ digest: '00000001' }), fullOf({ digest: '00000002' })] });
    await staging.ingest({ entries: ['00000001', '00000002', '00000003'].map((digest) => fullOf({ digest })) });
    const list = async (environment?: string, search?: string) => {
      const filter = { ...(environment && { environment }), ...(search && { search }) };
      return (await production.listIncidents({ limit: 9, order: 'count', ...filter })).incidents.map(
        ({ digest, environment: of }) => `${digest} ${of}`,
      );
    };
    expect(await list()).toEqual(['00000001 production', '00000002 production']);
    expect(await list('staging')).toEqual(['00000001 staging', '00000002 staging', '00000003 staging']);
    expect(await list('staging', '00000002')).toEqual(['00000002 staging']);
    expect(await list('elsewhere')).toEqual([]);
    expect(await production.countStates({ environment: 'staging' })).toEqual({ open: 3, resolved: 0, ignored: 0 });

    await production.mergeIncidents('00000002@staging', '00000001@staging', by);
    expect(await list('staging')).toEqual(['00000001 staging', '00000003 staging']);
    expect(await list()).toHaveLength(2);
    expect((await production.find({ digest: '00000002' }, 'staging'))?.incident).toMatchObject({
      digest: '00000001',
      aliases: ['00000002'],
      counts: { server: 2 },
    });
    const { incidents } = await production.listIncidents({ limit: 9, environment: 'staging' });
    const listed = incidents.find(({ digest }) => digest === '00000001');
    expect(listed?.chart.hours.counts.at(-1)).toBe(2);
    await production.unmerge('00000002@staging', by);
    expect(await list('staging')).toHaveLength(3);
    await production.deleteIncident('00000001@staging', { author: 'ada' });
    expect(await list('staging')).toHaveLength(2);
    expect(await list()).toEqual(['00000001 production', '00000002 production']);
    expect(await production.listSimilar('00000002@staging', 9)).toMatchObject([{ digest: '00000003' }]);
  });

  it('are found by an address, which does not contain the environment', async () => {
    const { production, staging } = await start();
    const here = fullOf();
    const there = fullOf();
    const onlyThere = fullOf({ digest: '00000002', requestId: 'request-0815' });
    await production.ingest({ entries: [here] });
    await staging.ingest({ entries: [there, onlyThere] });
    const find = async ({ failure }: typeof here, environment?: string) => {
      const { digest, occurrence } = failure;
      const found = await production.find({ digest, occurrence }, environment);
      return found && [found.incident.environment, found.state, found.occurrence?.full?.id === failure.id];
    };
    expect(await find(here)).toEqual(['production', 'kept', true]);
    expect(await find(there)).toEqual(['staging', 'kept', true]);
    expect(await find(onlyThere)).toEqual(['staging', 'kept', true]);
    expect(await find(there, 'production')).toEqual(['production', 'unknown', false]);
    expect(await find(onlyThere, 'production')).toBeUndefined();
    expect((await production.find({ digest: DIGEST }))?.incident.environment).toBe('production');
    expect((await staging.find({ digest: DIGEST }))?.incident.environment).toBe('staging');
    expect(await production.resolveQuery('request-0815')).toMatchObject({ digest: '00000002', environment: 'staging' });
  });

  it('of a crashed process are those in which it ran', async () => {
    const { production } = await start();
    const run = { id: 'run-1', build: 'b', release: 'v1', environment: 'preview' };
    await production.storeHeartbeat(run, { startedAt: 1, inFlight: [], memory: 1 });
    expect(await production.tellDead('run-1', fullOf())).toBe(true);
    expect((await production.find({ digest: DIGEST }, 'preview'))?.incident.counts.server).toBe(1);
    expect(await production.find({ digest: DIGEST }, 'production')).toBeUndefined();
  });

  it('inherit what a store of earlier releases knew of all of them together', async () => {
    const { driver, production, staging } = await start();
    // Recreates schema 8, which had one incident and stored separately in which environments it was seen.
    await production.ingest({ entries: [summaryOf({ digest: '00000001' }), summaryOf({ digest: '00000002' })] });
    await production.changeIncident('00000001', { to: { state: 'ignored' } }, by);
    await claimAll(production);
    await driver.run("UPDATE desk_environments SET environment = 'staging' WHERE digest = '00000002'");
    await driver.run("INSERT INTO desk_environments (digest, environment) VALUES ('00000001', 'staging')");
    const of = async (environment: string, digest: string) =>
      (await production.find({ digest }, environment))?.incident;

    // Staging knew both. Nothing is new there, and the ignored incident stays ignored.
    await staging.ingest({ entries: [summaryOf({ digest: '00000001' }), summaryOf({ digest: '00000002' })] });
    expect(await claimAll(staging)).toEqual([]);
    expect(await of('staging', '00000001')).toMatchObject({ state: 'ignored', counts: { server: 1 } });
    // Production had never seen the second.
    await production.ingest({ entries: [summaryOf({ digest: '00000001' }), summaryOf({ digest: '00000002' })] });
    expect(await claimAll(production)).toEqual(['new in production']);
    expect(await of('production', '00000001')).toMatchObject({ state: 'ignored', counts: { server: 2 } });
  });

  it('have separate hourly limits and separate pauses', async () => {
    const { production, staging } = await start();
    const digests = Array.from({ length: 25 }, (_, index) => String(index).padStart(8, '0'));
    await staging.ingest({ entries: digests.map((digest) => fullOf({ digest })) });
    expect(await claimAll(staging)).toHaveLength(20);
    await production.ingest({ entries: [fullOf()] });
    expect(await claimAll(production)).toEqual(['new in production']);
  });
});
