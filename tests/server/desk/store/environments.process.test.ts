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
});
