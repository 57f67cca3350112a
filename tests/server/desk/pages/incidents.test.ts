import { describe, expect, it } from 'vitest';
import { readView } from '../../../../src/server/desk/pages/read-view.ts';
import { USUAL_VIEW } from '../../../../src/shared/desk/href.ts';
import { Hour } from '../../../../src/shared/units.ts';
import { startDeskSite } from '../../../support/desk-site.ts';
import { VERA } from '../../../support/people.ts';
import { ingest, fullOf } from '../../../support/stores.ts';

const DIGESTS = ['7K3QM2XA', '2M3KQ7XA', '3Q7K2MXA'] as const;

async function start() {
  const site = await startDeskSite();
  const now = Date.now();
  await ingest(
    site.store,
    fullOf({ digest: DIGESTS[0], title: 'TypeError: no cart', at: now - 1000, occurrence: '9F4W0R6B' }),
    fullOf({ digest: DIGESTS[1], title: 'Error: no stock', at: now - Hour, side: 'browser', route: '/stock' }),
    fullOf({ digest: DIGESTS[2], title: 'Error: no price', at: now - 2 * Hour, kind: 'timeout', release: 'v2' }),
  );
  const cookie = await site.enter();
  return {
    ...site,
    cookie,
    show: (path: string) => site.get(path, cookie),
    list: async (path: string) => {
      const { text } = await site.get(path, cookie);
      return [...text.matchAll(/href="\/desk\/([0-9A-Z]{8})"/g)].map(([, digest]) => digest);
    },
    act: (name: string, digest: string | readonly string[]) =>
      site.post('/desk', { _action: `incidents.${name}`, digest } as Record<string, string>, cookie),
    readState: async (digest: string) => (await site.store.find({ digest }))?.incident.state,
  };
}

describe('the list', () => {
  it.each([
    ['/desk', DIGESTS],
    ['/desk?sort=first', DIGESTS],
    ['/desk?side=browser', [DIGESTS[1]]],
    ['/desk?kind=timeout', [DIGESTS[2]]],
    ['/desk?route=/stock', [DIGESTS[1]]],
    ['/desk?release=v2', [DIGESTS[2]]],
    ['/desk?environment=staging', []],
    ['/desk?search=price', [DIGESTS[2]]],
    ['/desk?assignee=-', DIGESTS],
    ['/desk?assignee=grace', []],
    ['/desk?state=resolved', []],
    ['/desk?state=all', DIGESTS],
    ['/desk?state=nonsense&side=nonsense&kind=nonsense&sort=nonsense&within=nonsense&after=nonsense', DIGESTS],
  ])('shows the right incidents at %s', async (path, expected) => {
    const { list } = await start();
    expect(await list(path)).toEqual(expected);
  });

  it.each([
    ['7k3q-m2xa', `/desk/${DIGESTS[0]}`],
    ['7K3QM2XA-9F4W0R6B', `/desk/${DIGESTS[0]}/9F4W0R6B`],
  ])('redirects from %s in the search box to the page that it names', async (text, to) => {
    const { show } = await start();
    const reply = await show(`/desk?search=${text}`);
    expect([reply.status, reply.headers.location]).toEqual([303, to]);
  });

  it('continues on the next page', async () => {
    const { store, list, show } = await start();
    const last = Date.now() - 3 * Hour;
    const many = Array.from({ length: 50 }, (_, index) =>
      fullOf({ digest: `A${String(index).padStart(7, '0')}`, at: last - index }),
    );
    await ingest(store, ...many);
    const { text } = await show('/desk');
    const next = /href="(\/desk\?after=[^"]+)"/.exec(text)?.[1] ?? '';
    expect(await list('/desk')).toHaveLength(50);
    expect(await list(next)).toEqual(['A0000047', 'A0000048', 'A0000049']);
    expect((await show(next)).text).toContain('First page');
  });

  it('keeps its ETag until something is stored or changed', async () => {
    const { store, get, cookie } = await start();
    const read = async () => (await get('/desk/_data', cookie)).headers.etag;
    const first = await read();
    expect(first).toMatch(/^(?:W\/)?".+"$/);
    expect(await read()).toBe(first);
    await ingest(store, fullOf({ digest: DIGESTS[0] }));
    const second = await read();
    expect(second).not.toBe(first);
    await store.addNote(DIGESTS[0], 'x', 'ada');
    expect(await read()).not.toBe(second);
  });

  it('explains on a new desk how to record a first failure', async () => {
    const site = await startDeskSite();
    expect((await site.get('/desk', await site.enter())).text).toContain('Nothing has failed yet');
  });
});

describe('changing several incidents', () => {
  it('changes the selected ones, and says how many', async () => {
    const { act, readState } = await start();
    const reply = await act('resolve', [DIGESTS[0], DIGESTS[1]]);
    expect(reply.text).toContain('2 incidents resolved.');
    expect(await Promise.all(DIGESTS.map(readState))).toEqual(['resolved', 'resolved', 'open']);
    await act('ignore', DIGESTS[2]);
    await act('reopen', DIGESTS[0]);
    expect(await Promise.all(DIGESTS.map(readState))).toEqual(['open', 'resolved', 'ignored']);
  });

  it('says how many no longer exist', async () => {
    const { act } = await start();
    expect((await act('resolve', [DIGESTS[0], '00000000'])).text).toContain(
      '1 incident resolved. 1 was already deleted.',
    );
  });

  it('asks for a selection if there is none', async () => {
    const { act } = await start();
    const reply = await act('resolve', []);
    expect(reply.status).toBe(422);
    expect(reply.text).toContain('Select an incident first.');
  });

  it.each(['resolve', 'ignore', 'reopen'])('is refused to viewers, strangers and other sites: %s', async (name) => {
    const { post, enter, cookie, readState } = await start();
    const fields = { _action: `incidents.${name}`, digest: DIGESTS[0] };
    expect((await post('/desk', fields, await enter(VERA.token))).status).toBe(403);
    expect((await post('/desk', fields)).status).toBe(401);
    expect((await post('/desk', fields, cookie).set('Sec-Fetch-Site', 'cross-site')).status).toBe(403);
    expect(await readState(DIGESTS[0])).toBe('open');
  });
});

describe('readView', () => {
  it('uses the default view for an empty or invalid URL', () => {
    expect(readView(new URLSearchParams())).toEqual(USUAL_VIEW);
    expect(readView(new URLSearchParams('state=x&sort=constructor&span=1&side=both&kind=toString&within=1y'))).toEqual(
      USUAL_VIEW,
    );
  });

  it('shortens values that are longer than any stored value', () => {
    expect(readView(new URLSearchParams({ search: 'x'.repeat(1000) })).search).toHaveLength(250);
  });
});
