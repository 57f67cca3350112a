import { describe, expect, it } from 'vitest';
import { Day, Hour } from '../../../../src/shared/units.ts';
import { startDeskSite, toWords } from '../../support/desk-site.ts';
import { fullOf, ingest, summaryOf } from '../../support/stores.ts';

const DIGESTS = ['7K3QM2XA', '2M3KQ7XA', '3Q7K2MXA'] as const;
const [CART, STOCK, PRICE] = DIGESTS;
const NOW = Date.now();

async function start() {
  const site = await startDeskSite();
  const place = { path: 'src/server/product/cart.ts', function: 'loadCart', detail: 'throw' };
  await ingest(
    site.store,
    fullOf({ digest: CART, title: 'TypeError: no cart', at: NOW - 1000, occurrence: '9F4W0R6B', location: place }),
    summaryOf({ digest: STOCK, release: 'v0', at: NOW - 3 * Day }),
    fullOf({
      digest: STOCK,
      title: 'Error: no stock',
      at: NOW - Hour / 2,
      side: 'browser',
      route: '/stock',
      visitor: 'a',
    }),
    fullOf({ digest: PRICE, title: 'Error: no price', at: NOW - 3 * Hour, kind: 'timeout', release: 'v2' }),
  );
  const cookie = await site.enter();
  const show = (path: string) => site.get(path, cookie);
  return {
    ...site,
    cookie,
    show,
    words: async (path: string) => toWords((await show(path)).text),
    list: async (path: string) =>
      [...(await show(path)).text.matchAll(/href="\/desk\/([0-9A-Z]{8})"/g)].map(([, digest]) => digest),
    act: (name: string, digest: string | readonly string[]) =>
      site.post('/desk', { _action: `incidents.${name}`, digest } as Record<string, string>, cookie),
    readStates: () =>
      Promise.all(DIGESTS.map(async (digest) => (await site.store.finder.find({ digest }))?.incident.state)),
  };
}

describe('the list', () => {
  it('shows each incident with what failed, where, how often and when', async () => {
    const { show } = await start();
    const { text } = await show('/desk');
    const words = toWords(text);
    expect(words).toContain(
      'TypeError: no cart Exception server 7K3QM2XA /orders/:id loadCart src/server/product/cart.ts',
    );
    expect(words).toContain('2 times 1 visitor last 30 min ago first 3 d ago');
    expect(words).toContain('v0 to v1');
    expect(words).toContain('Open 3 Resolved 0 Ignored 0 All');
    expect(text).toContain('aria-label="2 times in 14 days.');
  });

  it.each([
    ['/desk', DIGESTS],
    ['/desk?side=browser&route=/stock', [STOCK]],
    ['/desk?within=1h', [CART, STOCK]],
    ['/desk?kind=timeout', [PRICE]],
    [`/desk?search=${'x'.repeat(1000)}`, []],
    ['/desk?state=x&side=both&kind=toString&sort=constructor&within=1y&after=x', DIGESTS],
  ])('shows the right incidents at %s', async (path, expected) => {
    const { list } = await start();
    expect(await list(path)).toEqual(expected);
  });

  it('has links to other pages that move the focus to their start', async () => {
    const { show, store } = await start();
    const digests = Array.from({ length: 50 }, (_, index) => String(index).padStart(8, '0'));
    await ingest(store, ...digests.map((digest) => summaryOf({ digest })));
    const [, next = ''] = /href="(\/desk\?after=[^"]+)"[^>]*rel="next"/.exec((await show('/desk')).text) ?? [];
    expect(next).toMatch(/#main$/);
    expect((await show(next)).text).toContain('href="/desk#main"');
  });
});

describe('changing several incidents', () => {
  it('changes the selected ones, and says how many', async () => {
    const { act, readStates } = await start();
    expect((await act('resolve', [CART, STOCK])).text).toContain('2 incidents resolved.');
    expect(await readStates()).toEqual(['resolved', 'resolved', 'open']);
    await act('ignore', PRICE);
    await act('reopen', CART);
    expect(await readStates()).toEqual(['open', 'resolved', 'ignored']);
    expect((await act('resolve', [CART, '00000000'])).text).toContain('1 incident resolved. 1 was already deleted.');
    expect((await act('resolve', [])).text).toContain('Select an incident first.');
  });
});
