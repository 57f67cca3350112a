import { expect, it } from 'vitest';
import type { Store } from '../../../../src/desk/server/store/store.ts';
import type { SortName } from '../../../../src/desk/shared/page-data.ts';
import { Hour } from '../../../../src/shared/units.ts';
import { describeStores, fullOf, ingest, summaryOf, thisHour } from '../../support/stores.ts';

/** Adds incidents. The higher the digest, the later and the more often it happened. */
async function fill(store: Store, count: number): Promise<string[]> {
  const digests = Array.from({ length: count }, (_, index) => String(index + 1).padStart(8, '0'));
  for (const [index, digest] of digests.entries()) {
    const seen = Array.from({ length: index + 1 }, (_, time) =>
      summaryOf({ digest, at: thisHour - (count - index) * Hour + time, visitor: `visitor ${time % 3}` }),
    );
    await ingest(store, fullOf({ digest, at: thisHour - 100 * Hour + index }), ...seen);
  }
  return digests;
}

async function listAll(store: Store, sort: SortName, limit: number): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list.listIncidents({ sort, limit, cursor });
    expect(page.incidents.length).toBeLessThanOrEqual(limit);
    found.push(...page.incidents.map(({ digest }) => digest));
    cursor = page.next;
  } while (cursor !== undefined);
  return found;
}

describeStores('the list of incidents', (open) => {
  const listDigests = async (store: Store, filter: object) =>
    (await store.list.listIncidents({ limit: 20, ...filter })).incidents.map(({ digest }) => digest).sort();

  it('returns each incident once, page by page, in every sort order, while new ones arrive', async () => {
    const { store } = await open();
    const digests = await fill(store, 7);
    for (const sort of ['last', 'first', 'count'] as const) {
      for (const limit of [2, 7, 50]) expect(await listAll(store, sort, limit)).toEqual(digests.toReversed());
    }
    // Most of them have the same number of visitors, so the digest decides.
    const byVisitors = ['00000003', '00000004', '00000005', '00000006', '00000007', '00000002', '00000001'];
    expect(await listAll(store, 'visitors', 2)).toEqual(byVisitors);

    const { next = '' } = await store.list.listIncidents({ limit: 2 });
    await ingest(store, fullOf({ digest: '0000000A' }));
    const page = await store.list.listIncidents({ limit: 2, cursor: next });
    expect(page.incidents.map(({ digest }) => digest)).toEqual(['00000005', '00000004']);
    for (const cursor of [next, 'count.-1.A', 'count..A', `count.1.${'A'.repeat(500)}`]) {
      const first = await store.list.listIncidents({ limit: 1, sort: 'count', cursor });
      expect(first.incidents).toMatchObject([{ digest: '00000007' }]);
    }
  });

  it('is searched by parts of message, digest, file, function, route, URL and user agent', async () => {
    const { store } = await open();
    await ingest(
      store,
      fullOf({
        digest: '7K3QM2XA',
        title: 'TypeError: Cannot read cartItem of undefined',
        location: { path: 'src/server/product/pages/cartItem.ts', function: 'Cart.total', detail: '' },
        route: '/cart/:id',
        level: 'warning',
        tags: { Plan: 'pro plus', tenant: 'acme' },
        request: {
          method: 'GET',
          url: '/cart/100%25_a?coupon=ÄPFEL',
          headers: { 'user-agent': 'Mozilla/5.0 (X11) Firefox/152.0' },
        },
      }),
      fullOf({ digest: '00000002', title: 'RangeError: "quoted" \\ back_slash', route: '/other' }),
    );
    const expected: Record<string, string[]> = {
      '7K3QM2XA': [
        ...['cart', 'cartItem', 'CARTITEM', 'pages', 'src/server/product/pages/cartItem.ts', 'item firefox', '7k3qm'],
        ...['äpfel', '100%25_a', '100%', 'er car', 'tag:plan=pro', 'tag:tenant=acme level:warning'],
      ],
      '00000002': ['"quoted"', '\\', 'back_slash'],
      '00000002,7K3QM2XA': ['error', 'er', '  '],
      '': [
        ...['pages in `src`', 'firefox range', '%_', 'k\\', 'backxslash', 'tag:tenant=other', 'AND OR NOT * ( NEAR'],
      ],
    };
    for (const [digests, searches] of Object.entries(expected)) {
      for (const search of searches) {
        expect([search, String(await listDigests(store, { search }))]).toEqual([search, digests]);
      }
    }
  });

  it('finds text of later occurrences, and nothing deleted', async () => {
    const { store } = await open();
    const request = (url: string) => ({ method: 'GET', url });
    await ingest(store, fullOf({ digest: '00000001', request: request('/first') }), fullOf({ digest: '00000002' }));
    await ingest(store, fullOf({ digest: '00000001', request: request('/second') }));
    expect(await listDigests(store, { search: '/first' })).toEqual(['00000001']);
    expect(await listDigests(store, { search: '/second' })).toEqual(['00000001']);
    await store.changes.deleteIncident('00000001@production', { author: 'ada' });
    expect(await listDigests(store, { search: '/second' })).toEqual([]);
  });
});
