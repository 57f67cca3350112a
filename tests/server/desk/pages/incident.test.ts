import { describe, expect, it } from 'vitest';
import type { StoredFailure } from '../../../../src/server/desk/store/records.ts';
import type { Feedback } from '../../../../src/server/reports/feedback/feedback.ts';
import { Hour } from '../../../../src/shared/units.ts';
import { createFailure } from '../../../support/desk.ts';
import { type DeskSite, startDeskSite } from '../../../support/desk-site.ts';
import { VERA } from '../../../support/people.ts';
import { ingest, summaryOf, fullOf } from '../../../support/stores.ts';

const DIGEST = '7K3QM2XA';
const OTHER = '2M3KQ7XA';
const SOURCE = ['function loadCart(cart) {', '  return cart.order.total;', '}'];

/** A full failure, as the desk worker prepares it. */
function storedFailure(wanted: Partial<StoredFailure> = {}): StoredFailure {
  const frame = { file: 'server/main.js', line: 1, column: 200, function: 'a' };
  const place = { file: 'src/server/product/pages/cart.ts', line: 2, column: 21 };
  return {
    ...createFailure({
      occurrence: '9F4W0R6B',
      errors: [{ class: 'TypeError', message: 'boom', frames: [frame] }],
      location: { path: place.file, function: 'loadCart', detail: 'return cart.order.total' },
      request: { method: 'GET', url: '/orders/7', headers: { Referer: '/orders', 'User-Agent': 'curl/8.4.0' } },
    }),
    resolved: [[{ ...place, function: 'loadCart', own: true, context: { start: 1, lines: SOURCE } }]],
    ...wanted,
  };
}

const whole = (wanted: Partial<StoredFailure> = {}) => ({ entry: 'full', failure: storedFailure(wanted) }) as const;

async function start(...failures: Parameters<typeof ingest>[1][]) {
  const site = await startDeskSite();
  await ingest(site.store, ...(failures.length > 0 ? failures : [whole()]));
  const cookie = await site.enter();
  return {
    ...site,
    cookie,
    show: (path: string) => site.get(path, cookie),
    act: (name: string, fields: Record<string, string> = {}, path = `/desk/${DIGEST}`) =>
      site.post(path, { _action: `incident.${name}`, ...fields }, cookie),
    read: () => site.store.find({ digest: DIGEST }).then((found) => found?.incident),
  };
}

/** Returns the text as a reader sees it. */
const toWords = (html: string) =>
  html
    .replace(/<script[\s\S]*?<\/script>/g, '')
    .replace(/<!-- -->|<wbr\/>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');

describe('the incident page', () => {
  it('shows the source line that failed, and for which request', async () => {
    const { show } = await start();
    const reply = await show(`/desk/${DIGEST}`);
    expect(reply.status).toBe(200);
    const words = toWords(reply.text);
    expect(words).toContain('in loadCart , src/server/product/pages/cart.ts:2 , on /orders/:id');
    expect(words).toContain('2 This line: return cart.order.total;');
    expect(words).toContain('Came from /orders Client curl 8.4');
  });

  it.each([`/desk/${DIGEST}-9F4W0R6B`, `/desk/${DIGEST.toLowerCase()}/9f4w-0r6b`, `/desk/${DIGEST}9F4WOR6B`])(
    'is the redirect target of %s',
    async (path) => {
      const { show } = await start();
      const reply = await show(path);
      expect([reply.status, reply.headers.location]).toEqual([303, `/desk/${DIGEST}/9F4W0R6B`]);
    },
  );

  it.each(['/desk/00000000', '/desk/not-a-digest', `/desk/${DIGEST}/x/y`])('answers 404 for %s', async (path) => {
    const { show } = await start();
    expect((await show(path)).status).toBe(404);
  });

  it('is the redirect target of incidents merged into it', async () => {
    const { show, store } = await start(whole(), fullOf({ digest: OTHER }));
    await store.mergeIncidents(OTHER, DIGEST, { author: 'ada' });
    expect((await show(`/desk/${OTHER}`)).headers.location).toBe(`/desk/${DIGEST}`);
    const words = toWords((await show(`/desk/${DIGEST}`)).text);
    expect(words).toContain(`${OTHER} was merged into this.`);
    expect(words).toContain(`ada merged ${OTHER} into it`);
  });

  it('links to the previous and the next occurrence', async () => {
    const now = Date.now();
    const { show } = await start(
      whole({ occurrence: 'AAAAAAAA', at: now - 3 * Hour }),
      whole({ occurrence: 'BBBBBBBB', at: now - 2 * Hour }),
      whole({ occurrence: 'CCCCCCCC', at: now - Hour }),
    );
    const middle = await show(`/desk/${DIGEST}/BBBBBBBB`);
    expect(middle.text).toMatch(new RegExp(`href="/desk/${DIGEST}/AAAAAAAA"[^>]*rel="prev"`));
    expect(middle.text).toMatch(new RegExp(`href="/desk/${DIGEST}/CCCCCCCC"[^>]*rel="next"`));
    expect(toWords((await show(`/desk/${DIGEST}`)).text)).toContain('CCCCCCCC');
  });

  it('and the list say how many more failures are arriving, and that this one can be among them', async () => {
    const site = await startDeskSite({
      arriving: { count: 28_760, hasMore: false },
      calls: {
        async find(address) {
          const found = await site.store.find(address as never); // the test's desk would find it too early
          return found && { ...found, state: 'arriving' };
        },
      },
    });
    await ingest(site.store, whole());
    const cookie = await site.enter();
    for (const path of ['/desk', `/desk/${DIGEST}/ZZZZZZZZ`]) {
      expect(toWords((await site.get(path, cookie)).text), path).toContain('28,760 more arriving');
    }
    const words = toWords((await site.get(`/desk/${DIGEST}/ZZZZZZZZ`, cookie)).text);
    expect(words).toContain('ZZZZZZZZ may not be stored yet');
    expect(toWords((await (await startDeskSite()).get('/desk', cookie)).text)).not.toContain('arriving');
  });

  it('shows the nearest full occurrence if the requested one was sampled out', async () => {
    const now = Date.now();
    const { show } = await start(
      whole({ at: now - 2 * Hour }),
      summaryOf({ occurrence: 'BBBBBBBB', at: now - Hour, requestId: 'request-9' }),
    );
    const words = toWords((await show(`/desk/${DIGEST}/BBBBBBBB`)).text);
    expect(words).toContain('BBBBBBBB , 1 h ago , request request-9 was sampled out');
    expect(words).toContain('2 This line: return cart.order.total;');
    expect(toWords((await show(`/desk/${DIGEST}/ZZZZZZZZ`)).text)).toContain('ZZZZZZZZ is unknown or was deleted');
  });

  it('shows everything that a stranger wrote as text', async () => {
    const evil = '"><img src=x onerror=alert(1)><script>alert(2)</script>';
    const { show, store } = await start(
      whole({
        title: evil,
        errors: [{ class: evil, message: evil, code: evil, members: [evil], frames: [] }],
        resolved: [
          [{ file: evil, line: 2, column: 1, function: evil, own: true, context: { start: 1, lines: [evil, evil] } }],
        ],
        site: { path: evil, function: evil, detail: evil },
        route: evil,
        requestId: evil,
        traceId: evil,
        spanId: evil,
        visitor: evil,
        release: evil,
        build: evil,
        request: { method: evil, url: evil, headers: { [evil]: evil, referer: evil, 'user-agent': evil } },
        components: [{ file: evil, line: 1, column: 1, function: evil, own: true }],
        breadcrumbs: [{ at: Date.now(), category: evil, message: evil, data: { [evil]: evil } }],
        tags: { [evil]: evil },
        extra: { [evil]: { deep: evil } },
        cut: [evil],
      }),
    );
    const feedback: Feedback = {
      id: 'f'.repeat(32),
      text: evil,
      name: evil,
      email: evil,
      url: evil,
      at: Date.now(),
      address: `${DIGEST}-9F4W0R6B`,
    };
    await ingest(store, { entry: 'feedback', feedback });
    await store.addNote(DIGEST, evil, evil);
    await store.changeIncident(DIGEST, { assignee: evil }, { author: evil });
    for (const path of [`/desk/${DIGEST}`, '/desk?state=all', `/desk?release=${encodeURIComponent(evil)}`]) {
      const { text, status } = await show(path);
      expect(status).toBe(200);
      expect(text).not.toContain('<img');
      expect(text).not.toContain('<script>alert');
    }
    const page = (await show(`/desk/${DIGEST}`)).text;
    expect(page.match(/&lt;img src=x onerror=alert\(1\)&gt;/g)?.length).toBeGreaterThan(30);
    expect(page).not.toMatch(/href="[^"]*(?:javascript:|img)/);
  });
});

describe('an operator', () => {
  it.each([
    ['resolve', {}, { state: 'resolved', resolvedIn: 'now' }, 'Resolved.'],
    ['resolve', { when: 'next' }, { state: 'resolved', resolvedIn: 'next' }, 'Resolved in the next release.'],
    ['ignore', {}, { state: 'ignored' }, 'Ignored forever.'],
    ['ignore', { how: '10' }, { state: 'ignored', ignoredGrowth: 10 }, 'Ignored until 10 more within an hour.'],
    ['ignore', { how: 'nonsense' }, { state: 'ignored' }, 'Ignored forever.'],
    ['reopen', {}, { state: 'open' }, 'Reopened.'],
    ['assign', { assignee: ' grace ' }, { assignee: 'grace' }, 'Assigned to grace.'],
  ])('can %s with %o, and sees a confirmation', async (name, fields, expected, words) => {
    const { act, read } = await start();
    const reply = await act(name, fields);
    expect(reply.status).toBe(200);
    expect(toWords(reply.text)).toContain(words);
    expect(await read()).toMatchObject({ ...expected, ...('state' in expected && { stateBy: 'ada' }) });
  });

  it('can ignore an incident for a time', async () => {
    const { act, read } = await start();
    const before = Date.now();
    await act('ignore', { how: '1h' });
    const until = (await read())?.ignoredUntil ?? 0;
    expect(until).toBeGreaterThanOrEqual(before + Hour);
    expect(until).toBeLessThanOrEqual(Date.now() + Hour);
  });

  it('can unassign it with an empty name', async () => {
    const { act, read } = await start();
    await act('assign', { assignee: 'grace' });
    expect(toWords((await act('assign', { assignee: '' })).text)).toContain('Unassigned.');
    expect((await read())?.assignee).toBeUndefined();
  });

  it('overwrites a simultaneous change, and sees a message about it', async () => {
    const { act, store, read } = await start();
    const version = String((await read())?.version);
    await store.changeIncident(DIGEST, { to: { state: 'resolved', in: 'now' } }, { author: 'grace' });
    const words = toWords((await act('ignore', { version })).text);
    expect(words).toContain('Before that, it was changed: resolved, last by grace at ');
    expect((await read())?.state).toBe('ignored');
    const fresh = String((await read())?.version);
    expect(toWords((await act('reopen', { version: fresh })).text)).not.toContain('Before that');
  });

  it('can write and delete a note', async () => {
    const { act, store } = await start();
    const reply = await act('addNote', { note: ' The migration did not run. ' });
    expect(toWords(reply.text)).toContain('ada wrote just now The migration did not run.');
    const [note] = await store.listNotes(DIGEST, 10);
    expect(note?.text).toBe('The migration did not run.');
    expect(toWords((await act('removeNote', { id: String(note?.id) })).text)).toContain('Note deleted.');
    expect(await store.listNotes(DIGEST, 10)).toEqual([]);
  });

  it('sees an error for a note that is empty or too long, and keeps the text', async () => {
    const { act } = await start();
    expect((await act('addNote', { note: '  ' })).status).toBe(422);
    const long = await act('addNote', { note: 'x'.repeat(4097) });
    expect(long.status).toBe(422);
    expect(long.text).toContain('Please keep it below 4096 characters.');
    expect(long.text).toContain('x'.repeat(4097));
  });

  it('can merge and unmerge', async () => {
    const { act, store } = await start(whole(), fullOf({ digest: OTHER }));
    const reply = await act('merge', { into: OTHER.toLowerCase() });
    expect([reply.status, reply.headers.location]).toEqual([303, `/desk/${OTHER}`]);
    await act('separate', { digest: DIGEST }, `/desk/${OTHER}`);
    expect((await store.find({ digest: OTHER }))?.incident.aliases).toEqual([]);
  });

  it.each([
    ['the other one', 'This is not a digest'],
    ['00000000', 'No incident has this digest.'],
    [DIGEST, 'Both are the same incident already.'],
  ])('cannot merge into %s, and sees why', async (into, words) => {
    const { act } = await start();
    const reply = await act('merge', { into });
    expect(reply.status).toBe(422);
    expect(reply.text).toContain(words);
  });

  it('can delete feedback, an occurrence and the incident', async () => {
    const { act, show, store } = await start();
    const feedback: Feedback = { id: 'f'.repeat(32), text: 'It broke.', at: Date.now(), address: `${DIGEST}-9F4W0R6B` };
    await ingest(store, { entry: 'feedback', feedback });
    await act('removeFeedback', { id: feedback.id });
    expect(await store.listFeedback(DIGEST, 10)).toEqual([]);

    const one = await act('removeOccurrence', { occurrence: '9F4W0R6B' });
    expect([one.status, one.headers.location]).toEqual([303, `/desk/${DIGEST}`]);
    expect((await store.listOccurrences(DIGEST, { limit: 10 })).occurrences).toEqual([]);

    const all = await act('remove');
    expect([all.status, all.headers.location]).toEqual([303, '/desk']);
    expect(await store.find({ digest: DIGEST })).toBeUndefined();
    // The address now says that it was deleted.
    const gone = await show(`/desk/${DIGEST}`);
    expect(gone.status).toBe(410);
    expect(toWords(gone.text)).toMatch(/This incident was deleted by ada at \d{4}-\d\d-\d\d/);
  });

  const actions = [
    ...['resolve', 'ignore', 'reopen', 'assign', 'addNote', 'removeNote', 'merge', 'separate'],
    ...['removeFeedback', 'removeOccurrence', 'remove'],
  ];

  it.each(actions)('must be signed in and not a viewer: %s', async (name) => {
    const site: DeskSite = await startDeskSite();
    await ingest(site.store, whole());
    const before = await site.store.find({ digest: DIGEST });
    const fields = { _action: `incident.${name}`, note: 'x', into: OTHER, occurrence: '9F4W0R6B', assignee: 'x' };
    expect((await site.post(`/desk/${DIGEST}`, fields, await site.enter(VERA.token))).status).toBe(403);
    expect((await site.post(`/desk/${DIGEST}`, fields)).status).toBe(401);
    expect(await site.store.find({ digest: DIGEST })).toEqual(before);
  });

  it.each(actions)('must act from this site: %s', async (name) => {
    const { cookie, post, read } = await start();
    const reply = await post(`/desk/${DIGEST}`, { _action: `incident.${name}` }, cookie).set(
      'Sec-Fetch-Site',
      'cross-site',
    );
    expect(reply.status).toBe(403);
    expect((await read())?.version).toBe(0);
  });
});
