import { describe, expect, it } from 'vitest';
import { toNewOccurrence } from '../../../../src/desk/server/store/ingest/batch.ts';
import type { StoredFailure } from '../../../../src/desk/server/store/records.ts';
import { Hour, MiB } from '../../../../src/shared/units.ts';
import { VERA } from '../../../support/people.ts';
import { createFailure } from '../../support/desk.ts';
import { fullOfStranger, fullWithSource } from '../../support/desk-api.ts';
import { type DeskSiteOptions, startDeskSite, toWords } from '../../support/desk-site.ts';
import { fullOf, ingest } from '../../support/stores.ts';

const DIGEST = '7K3QM2XA';
const KEY = `${DIGEST}@test`;
const NOW = Date.now();

async function start(entries: Parameters<typeof ingest>[1][] = [fullWithSource()], options: DeskSiteOptions = {}) {
  const site = await startDeskSite(options);
  await ingest(site.store, ...entries);
  const cookie = await site.enter();
  return {
    ...site,
    show: (path = `/desk/${DIGEST}`) => site.get(path, cookie),
    words: async (path = `/desk/${DIGEST}`) => toWords((await site.get(path, cookie)).text),
    act: (name: string, fields: Record<string, string> = {}, path = `/desk/${DIGEST}`) =>
      site.post(path, { _action: `incident.${name}`, ...fields }, cookie),
    read: () => site.store.finder.find({ digest: DIGEST }).then((found) => found?.incident),
  };
}

/** Shows a failure with these properties. */
const showOf = async (failure: Partial<StoredFailure>, options?: DeskSiteOptions) =>
  (await start([toNewOccurrence({ ...createFailure(), ...failure })], options)).show();

describe('an incident', () => {
  it('shows what failed and where, its request, and what led to it', async () => {
    const links = {
      source: 'https://code.example/{release}/{file}#L{line}',
      issue: 'https://bugs.example/?t={title}',
      trace: 'https://traces.example/{traceId}',
    };
    const { show } = await start([fullWithSource({ traceId: 'abc', release: 'v1-dirty' })], { links });
    const { text } = await show();
    const parts = [
      `${DIGEST} Warning Open TypeError: boom in loadCart , src/server/product/pages/cart.ts:2 , on /orders/:id`,
      'Happened 1 × server',
      'Stack Copy stack TypeError: boom',
      'loadCart src/server/product/pages/cart.ts:2:21',
      '2 This line: return cart.order.total; // here',
      'Came from /orders Client curl/8.4.0, a robot',
      'fetch GET /carts/7 status 200',
      '0 failure TypeError: boom',
      'Failed while a loader ran',
      'plan business',
      'No activity yet.',
      `Copy test tests/product/failures/${DIGEST}.test.ts`,
    ];
    const words = toWords(text);
    for (const part of parts) expect(words).toContain(part);
    for (const link of [
      'https://code.example/v1/src/server/product/pages/cart.ts#L2',
      'https://bugs.example/?t=TypeError%3A%20boom',
      'https://traces.example/abc',
    ]) {
      expect(text).toContain(`href="${link}"`);
    }
  });

  it('expands frames of the app, folds the others, follows causes, and names the action', async () => {
    const frame = { line: 9, column: 9, function: 'run', own: false };
    const context = { start: 1, lines: ['    if (x) {', '      throw y;', '    }'] };
    const frames = [
      { ...frame, file: 'node_modules/pg-pool/index.js' },
      { ...frame, file: 'src/server/product/a.ts', line: 2, function: 'pay', own: true, context },
      { ...frame, file: 'node:fs' },
      { ...frame, file: 'src/server/pages/load-page.ts', own: true, context, async: true },
    ] as const;
    const error = { class: 'Error', message: 'No cart', frames };
    const cause = { class: 'AggregateError', message: '', code: '42P01', members: ['RangeError'], frames: [] };
    const body = { fields: { _action: { value: 'admin.impersonate' } } };
    const request = { method: 'POST', url: '/admin', body };
    const { text } = await showOf({ errors: [error, cause], resolved: [frames], origin: 'action', request });
    const details = [...text.matchAll(/<details(?: (open)="")?><summary>(.*?)<\/summary>/g)];
    const folds = details.map(([, open = 'closed', summary = '']) => `${open} ${toWords(summary).trim()}`);
    const expected = ['closed 1 frame of pg-pool', 'open pay src/server/product/a.ts:2:9'];
    expect(folds).toEqual(expect.arrayContaining([...expected, 'closed 2 frames of Node, Spillway']));
    expect(toWords(text)).toContain('caused by AggregateError 42P01 Of these: RangeError.');
    expect(toWords(text)).toContain('Failed in the action admin.impersonate');
    expect(text).toMatch(/keyword[^>]*>throw<\/span> y;/); // coloured, and without the common indent
  });

  const inFlight = [{ requestId: 'b', method: 'GET', route: '/b', ms: 14_200 }, 'no request'];

  const lastHeard = { startedAt: NOW - 3 * Hour, lastHeardAt: NOW, memory: 1946 * MiB, blockedFor: 4300, inFlight };
  const heap = { used: 1000 * MiB, limit: 1024 * MiB };
  const mismatch = { contexts: { react: { said: '<a>\n+ 20:31\n- 20:30' }, browser: 'x' } };
  const image = { directive: 'img-src', blocked: 'e.example', x: 'y' };
  const types = 'csp require-trusted-types-for';
  it.each<[words: readonly string[], kind: StoredFailure['kind'], extra: StoredFailure['extra'], title?: string]>([
    [['Uptime 3 h', 'Memory 1,946 MiB', 'Blocked for 4.3 s', '14.2 s GET /b b'], 'unclean-death', lastHeard],
    [['Memory 1,946 MiB Heap 1,000 MiB of 1,024 MiB'], 'unclean-death', { ...lastHeard, heap }],
    [['<a> + 20:31 - 20:30 Lines with +', 'contexts {"browser":"x"}'], 'hydration', mismatch],
    [
      ['The text differs.'],
      'hydration',
      { contexts: { react: { said: { toString: 1 } } } },
      'Error: The text differs.',
    ],
    [
      ['img-src evil.example', 'add it to contentSources', 'blocked e.example'],
      'csp',
      image,
      'csp img-src evil.example',
    ],
    [
      ['from sonner: import its style sheet', 'component-libraries.md'],
      ...(['csp', { sample: '[data-sonner-toaster][dir=ltr]' }, 'csp style-src-elem inline'] as const),
    ],
    [['other-hosts.md'], 'csp', { sample: 'HTMLScriptElement src|https://stats.example/a.js' }, types],
    [['html.md'], 'csp', { sample: 'Element innerHTML|<b>Bold</b><style>a{}' }, types],
    [['html.md'], 'csp', { sample: 'Element innerHTML|[{"@context":"https://schema.org"' }, types],
    [['component-libraries.md'], 'csp', { sample: 'Element innerHTML|[data-radix-viewport]{overflow' }, types],
    [['contentSources.trustedTypes'], 'csp', { sample: 'mine' }, 'csp trusted-types trusted-types-policy'],
    [['Server ended', 'Level fatal'], 'server-exit', {}],
  ])('shows %j of the kind %s', async (parts, kind, extra, title = 'Error') => {
    const words = toWords((await showOf({ at: NOW, kind, title, extra })).text);
    for (const part of parts) expect(words).toContain(part);
  });

  it('shows everything that a stranger wrote as text', async () => {
    const evil = '"><img src=x onerror=alert(1)><script>alert(2)</script>\u202e';
    const { show, store } = await start([fullOfStranger(evil)]);
    await store.history.addNote(KEY, evil, evil);
    for (const path of [`/desk/${DIGEST}`, '/desk?state=all', `/desk?release=${encodeURIComponent(evil)}`]) {
      expect((await show(path)).text).not.toMatch(/<img|<script>alert|\u202e/);
    }
    const page = (await show()).text;
    expect(page.match(/&lt;img src=x onerror=alert\(1\)&gt;/g)?.length).toBeGreaterThan(30);
    expect(page).not.toMatch(/href="[^"]*(?:javascript:|img)/);
  });
});

describe('an address', () => {
  it('leads to its page in every spelling, and to 404 if it names nothing', async () => {
    const { show } = await start();
    const { status, headers } = await show(`/desk/${DIGEST.toLowerCase()}/9f4w-0r6b`);
    expect([status, headers.location]).toEqual([303, `/desk/${DIGEST}/9F4W0R6B`]);
    for (const path of ['00000000', 'not-a-digest', `${DIGEST}/x/y`]) {
      expect((await show(`/desk/${path}`)).status, path).toBe(404);
    }
  });

  it('links to the older and the newer occurrence', async () => {
    const { show } = await start(
      ['AAAAAAAA', 'BBBBBBBB', 'CCCCCCCC'].map((occurrence, index) => fullOf({ occurrence, at: NOW + index })),
    );
    const { text } = await show(`/desk/${DIGEST}/BBBBBBBB`);
    expect(text).toMatch(/7K3QM2XA\/AAAAAAAA"[^>]*rel="prev"/);
    expect(text).toMatch(/7K3QM2XA\/CCCCCCCC"[^>]*rel="next"/);
  });

  it('may belong to a failure that is not stored yet', async () => {
    const { store, words } = await start([fullWithSource()], {
      calls: {
        settle: async () => false,
        async find() {
          const found = await store.finder.find({ digest: DIGEST });
          return found && { ...found, state: 'arriving' };
        },
      },
    });
    const page = await words(`/desk/${DIGEST}/ZZZZZZZZ`);
    expect(page).toContain('More arriving');
    expect(page).toContain('ZZZZZZZZ may not be stored yet');
  });
});

describe('an operator', () => {
  it.each([
    ['resolve', { when: 'next' }, { state: 'resolved', resolvedIn: 'next' }, 'Resolved in the next release.'],
    ['ignore', { how: 'nonsense' }, { state: 'ignored' }, 'Ignored forever.'],
    ['ignore', { how: '1h' }, { state: 'ignored', ignoredUntil: expect.any(Number) }, 'Ignored for an hour.'],
  ])('can %s with %o, and sees a confirmation', async (name, fields, expected, said) => {
    const { act, read } = await start();
    expect(toWords((await act(name, fields)).text)).toContain(said);
    expect(await read()).toMatchObject({ ...expected, stateBy: 'ada' });
  });

  it('can write and delete a note, and sees an error if it is empty or too long', async () => {
    const { act, store } = await start();
    for (const note of ['  ', 'x'.repeat(4001)]) {
      const { status, text } = await act('addNote', { note });
      expect([status, text.includes('id="note-error"'), text.includes(note.trim())]).toEqual([422, true, true]);
    }
    const said = toWords((await act('addNote', { note: ` The migration${'\r\n'.repeat(3900)}did not run. ` })).text);
    expect(said).toContain('ada wrote just now The migration did not run.');
    const [note] = await store.history.listNotes(KEY, 10);
    await act('removeNote', { id: String(note?.id) });
    expect(await store.history.listNotes(KEY, 10)).toEqual([]);
  });

  it('can delete an occurrence and the incident, whose address then says so', async () => {
    const { act, show, store } = await start();
    const one = await act('removeOccurrence', { occurrence: '9F4W0R6B' });
    expect(one.headers.location).toBe(`/desk/${DIGEST}`);
    expect((await store.occurrences.listOccurrences(KEY, { limit: 10 })).occurrences).toEqual([]);
    expect((await act('remove')).headers.location).toBe('/desk');
    const gone = await show();
    expect(gone.status).toBe(410);
    expect(toWords(gone.text)).toMatch(/This incident was deleted by ada at \d{4}-\d\d-\d\d/);
    expect(gone.text).not.toContain('Try again');
  });
});

it('a viewer sees no forms', async () => {
  const { get, enter } = await start();
  const { text } = await get(`/desk/${DIGEST}`, await enter(VERA.token));
  expect(text).toContain('TypeError: boom');
  expect(text).not.toMatch(/value="(?:incident|notifications)\.|textarea/);
});
