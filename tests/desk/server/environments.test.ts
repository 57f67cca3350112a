import { expect, it } from 'vitest';
import { startDeskSite } from '../support/desk-site.ts';
import { fullOf, ingest, useMemoryStore } from '../support/stores.ts';

const BOTH = '7K3QM2XA';
const ONLY_STAGING = '2M3KQ7XA';
const OF_STAGING = '9F4W0R6B';

/** A desk for the environment `test`, on a store that it shares with `staging`. */
async function start() {
  const { driver, store: staging } = await useMemoryStore({ environment: 'staging' });
  const site = await startDeskSite({ driver });
  await staging.builds.useBuild({ id: 'build-1', release: 'v1' });
  await ingest(staging, fullOf({ occurrence: OF_STAGING }), fullOf({ digest: ONLY_STAGING }));
  await ingest(site.store, fullOf({ title: 'seen in test' }));
  const cookie = await site.enter();
  const readState = async (environment: string) =>
    (await site.store.finder.find({ digest: BOTH }, environment))?.incident.state;
  return {
    show: (path: string) => site.get(path, cookie),
    act: (path: string, _action: string) => site.post(path, { _action, digest: BOTH }, cookie),
    readStates: () => Promise.all(['test', 'staging'].map(readState)),
  };
}

it('an address leads to the environment that has it', async () => {
  const { show } = await start();
  const there = `/desk/${BOTH}/${OF_STAGING}?environment=staging`;
  for (const [path, to] of [
    [`/desk/${BOTH}-${OF_STAGING}`, there],
    [`/desk?search=${BOTH}-${OF_STAGING}`, there],
    [`/desk/${ONLY_STAGING}`, `/desk/${ONLY_STAGING}?environment=staging`],
  ] as const) {
    expect((await show(path)).headers.location).toBe(to);
  }
  const { status, text } = await show(`/desk/${BOTH}`);
  expect([status, text.includes('seen in test')]).toEqual([200, true]);
  expect((await show(`/desk/${ONLY_STAGING}?environment=test`)).status).toBe(404);
});

it('a page shows and changes only one environment', async () => {
  const { act, show, readStates } = await start();
  const list = (await show('/desk?environment=staging')).text;
  expect([list.includes(ONLY_STAGING), list.includes('seen in test')]).toEqual([true, false]);
  await act(`/desk/${BOTH}?environment=staging`, 'incident.resolve');
  expect(await readStates()).toEqual(['open', 'resolved']);
  await act('/desk?environment=staging', 'incidents.ignore');
  expect(await readStates()).toEqual(['open', 'ignored']);
  const gone = await act(`/desk/${BOTH}?environment=staging`, 'incident.remove');
  expect(gone.headers.location).toBe('/desk?environment=staging');
  expect((await show(`/desk/${BOTH}`)).status).toBe(200);
});
