import { expect, it } from 'vitest';
import { openStore, type Store } from '../../../../src/server/desk/store/store.ts';
import type { NotificationRules } from '../../../../src/server/desk/store/store-context.ts';
import { describeStores, fullOf } from '../../../support/stores.ts';

const rules: NotificationRules = { after: 1, targets: [{ id: 'hook', name: 'Webhook' }] };
const by = { author: 'ada' };
const DIGEST = '7K3QM2XA';

describeStores('environments', (open) => {
  async function start(): Promise<Record<'production' | 'staging', Store>> {
    const { store, driver } = await open(rules);
    return { production: store, staging: await openStore(driver, { environment: 'staging', rules }) };
  }

  it('have separate states, counts, releases, notes and notifications', async () => {
    const { production, staging } = await start();
    await production.useBuild({ id: 'build-1', release: 'v1' });
    await production.ingest({ entries: [fullOf(), fullOf()] });
    await production.changeState(`${DIGEST}@production`, { state: 'resolved', in: 'next' }, by);
    await production.addNote(`${DIGEST}@production`, 'Mended.', 'ada');
    // The next release runs in staging first, where the failure is known too.
    await staging.useBuild({ id: 'build-2', release: 'v2' });
    await staging.ingest({ entries: [fullOf({ build: 'build-2', release: 'v2' })] });
    const read = async (environment: string) => (await production.find({ digest: DIGEST }, environment))?.incident;
    expect(await read('production')).toMatchObject({ state: 'resolved', counts: { server: 2 }, lastRelease: 'v1' });
    expect(await read('staging')).toMatchObject({ state: 'open', counts: { server: 1 }, lastRelease: 'v2' });
    expect(await production.listNotes(`${DIGEST}@staging`, 9)).toEqual([]);
    expect((await production.listDeployments('production')).map(({ release }) => release)).toEqual(['v1']);
    expect((await production.listNotifications(9)).waiting.map(({ key }) => key)).toEqual([
      `${DIGEST}@production`,
      `${DIGEST}@staging`,
    ]);

    // Deployed to production, the release makes it a regression there.
    await production.useBuild({ id: 'build-2', release: 'v2' });
    await production.ingest({ entries: [fullOf({ build: 'build-2', release: 'v2', at: Date.now() + 5 })] });
    expect(await read('production')).toMatchObject({ state: 'open', regressed: { release: 'v2' } });
    expect(await production.listKnownIn(DIGEST)).toEqual(['production', 'staging']);
  });

  it('are listed, counted, searched and deleted one at a time', async () => {
    const { production, staging } = await start();
    await production.ingest({ entries: [fullOf({ digest: '00000001' }), fullOf({ digest: '00000002' })] });
    await staging.ingest({ entries: ['00000001', '00000002', '00000003'].map((digest) => fullOf({ digest })) });
    const list = async (filter: { environment?: string; search?: string } = {}) =>
      (await production.listIncidents({ limit: 9, order: 'count', ...filter })).incidents.map(({ key }) => key);
    const inProduction = ['00000001@production', '00000002@production'];
    expect(await list()).toEqual(inProduction);
    expect(await list({ environment: 'staging', search: '00000002' })).toEqual(['00000002@staging']);
    expect(await list({ environment: 'elsewhere' })).toEqual([]);
    expect(await production.countStates({ environment: 'staging' })).toEqual({ open: 3, resolved: 0, ignored: 0 });
    await production.deleteIncident('00000001@staging', by);
    expect(await list({ environment: 'staging' })).toEqual(['00000002@staging', '00000003@staging']);
    expect(await list()).toEqual(inProduction);
  });
});
