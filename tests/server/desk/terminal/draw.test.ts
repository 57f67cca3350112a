import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { drawIncident } from '../../../../src/server/desk/terminal/draw-incident.ts';
import { drawList, type ListToDraw, toBars } from '../../../../src/server/desk/terminal/draw-list.ts';
import { type Line, toText } from '../../../../src/server/terminal/paint.ts';
import { toWidth } from '../../../../src/server/terminal/text-width.ts';
import type { StoryShape } from '../../../../src/shared/desk/shapes.ts';
import { Minute, Second } from '../../../../src/shared/units.ts';
import {
  growthShape,
  incidentData,
  incidentRow,
  incidentsData,
  NOW,
  occurrenceShape,
  wholeShape,
} from '../../../support/desk-shapes.ts';

/** Matches the sequences that `paint.ts` writes. */
const COLOUR = new RegExp(`${'\x1b'}\\[[\\d;]+m`, 'g');
const PIPE = Number.POSITIVE_INFINITY;
const EVIL = '\x1b[2J\x1b]0;owned\x07\u202ekcart\x9b31m\r';

function list(width: number, more: Partial<ListToDraw> = {}): string {
  const paper = { colour: false, width };
  const rows = [
    incidentRow(),
    incidentRow({ digest: '2QM7K3XA', assignee: 'ada', status: { state: 'open', isRegression: true } }),
  ];
  const of = { now: NOW, view: incidentsData().view, rows, total: 2, command: 'npm run desk --', ...more };
  return toText(drawList(of, paper), paper);
}

function print(lines: readonly Line[], width = 100): string {
  return toText(lines, { colour: false, width });
}

function widest(text: string): number {
  return Math.max(...text.split('\n').map((line) => toWidth(stripVTControlCharacters(line))));
}

describe('a warning', () => {
  it('is called one, with its tags', () => {
    const whole = wholeShape({ level: 'warning', tags: [['plan', 'pro']] });
    const text = print(drawIncident(incidentData({ shown: occurrenceShape({ whole }) })));
    expect(text.split('\n')[0]).toMatch(/ Warning$/);
    expect(text).toMatch(/^ *Level +warning$/m);
    expect(text).toMatch(/^ *plan +pro$/m);
    expect(print(drawIncident(incidentData()))).not.toMatch(/warning/i);
  });
});

describe('the list', () => {
  it('is a table that fits', () => {
    expect(list(100)).toBe(
      [
        '2 open incidents, sorted by: Last seen',
        '',
        'DIGEST         LAST  TIMES  VISITORS  WHERE                WHAT',
        '7K3QM2XA  3 min ago    420       131  cart.ts:24 loadCart  TypeError: Cannot read properties of und…',
        '2QM7K3XA  3 min ago    420       131  cart.ts:24 loadCart  came back: TypeError: Cannot read proper…',
        '',
        'For details: npm run desk -- 7K3QM2XA.',
        '',
      ].join('\n'),
    );
    for (const width of [30, 45, 64, 80, 96, 130, 200]) expect(widest(list(width))).toBeLessThanOrEqual(width);
  });

  it('has two lines per incident on a narrow terminal', () => {
    expect(list(40).split('\n').slice(2, 4)).toEqual([
      '7K3QM2XA  420×  3 min ago',
      '  TypeError: Cannot read properties of …',
    ]);
  });

  it('has a small chart on a wide terminal', () => {
    expect(list(150)).toContain('24 HOURS');
    expect(toBars([0, 1, 4, 8])).toBe(' ▁▄█');
    expect(toBars([0, 0])).toBe('  ');
  });

  it('is only the table in a pipe, with nothing shortened', () => {
    const lines = list(PIPE).trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[1]).toContain("TypeError: Cannot read properties of undefined (reading 'total')");
    expect(lines[2]).toMatch(/\(ada\)$/);
  });

  it('says how many are left out, and what to do if there are none', () => {
    expect(list(100, { total: 31 })).toContain('29 more: --limit 31.');
    expect(list(100, { rows: [], total: 0 })).toBe('No open incidents.\n');
    expect(list(100, { rows: [], total: 0, others: ['development', 'staging'] })).toBe(
      'No open incidents. Other environments: --environment development, --environment staging.\n',
    );
    const { view } = incidentsData();
    expect(list(100, { rows: [], total: 0, view: { ...view, search: 'x' } })).toBe('No incidents match.\n');
  });

  it('shows the state of each incident if it lists all states', () => {
    const view = { ...incidentsData().view, state: 'all' as const };
    expect(list(100, { view })).toMatch(/STATE[\s\S]*Open/);
  });
});

describe('the incident', () => {
  it('begins with its title, state and place', () => {
    expect(print(drawIncident(incidentData())).split('\n').slice(0, 8)).toEqual([
      '7K3QM2XA  Open  Exception',
      "TypeError: Cannot read properties of undefined (reading 'total')",
      'Where  src/server/product/pages/cart.ts:24  loadCart',
      'Route  /orders/:id',
      '',
      '7K3QM2XA-9F4W0R6B  3 min ago, 2026-11-21 20:28:07 UTC, in the server, v1.4.0',
      'older 7K3QM2XA-2M3KQ7XA',
      '',
    ]);
  });

  it('names the likely commit, and the link to the trace', () => {
    const file = 'src/server/product/pages/cart.ts';
    const commit = {
      hash: '3f2a9c1d0b'.repeat(4),
      author: 'Ada',
      at: NOW - Minute,
      subject: 'Round it',
      file,
      line: 24,
    };
    const traceLink = 'https://traces.example/0af7651916cd43dd8448eb211c80319c';
    const shown = occurrenceShape({ whole: wholeShape({ traceLink }) });
    const text = print(drawIncident(incidentData({ commit, shown })), 200);
    expect(text).toContain(`Likely commit  3f2a9c1d0 “Round it” by Ada, 1 min ago, which changed ${file}:24\n`);
    expect(text).toContain(traceLink);
  });

  it('shows the source around product frames, and summarizes other frames in one line', () => {
    const text = print(drawIncident(incidentData()));
    expect(text).toContain('    > 24 │   return { total: cart.order.total * 1.19, currency };');
    expect(text).toContain('      19 │ async function loadCart({ params, context }');
    expect(text).toContain('  3 frames of pg-pool, Node, Spillway');
    expect(text).toContain('caused by DatabaseError: relation "carts" does not exist 42P01');
    expect(text).toContain('  at Parser.parseErrorMessage node_modules/pg-protocol/dist/parser.js:285:98');
  });

  it('ends the breadcrumbs with the failure', () => {
    const text = print(drawIncident(incidentData()));
    expect(text).toContain(
      [
        'What led to it',
        '-14.0 s  navigation  from /orders to /orders/7',
        ' -2.0 s  fetch       GET https://api.example.com/carts/7 status=200 ms=84',
        '-400 ms  console     The cart has no order.',
        "      0  failure     TypeError: Cannot read properties of undefined (reading 'total')",
      ].join('\n'),
    );
  });

  it('shows request, counts, releases, visitors and operators', () => {
    const text = print(drawIncident(incidentData()));
    for (const words of [
      'GET              /orders/7?tab=items',
      'Browser          Safari 17.4 on iPhone (iOS 17.4)',
      'cookie           [redacted]',
      'Times  408 in the server, 12 in browsers, 131 visitors',
      'v1.4.0  184×, first 14 h ago  regressed here',
      '2 min ago, Grace, grace@example.org, https://shop.example/orders/7\n  I wanted to pay',
      '5 min ago  ada wrote\n  The migration of carts',
      "2QM7K3XA  TypeError: Cannot read properties of undefined (reading 'items') resolved, 17×",
    ]) {
      expect(text).toContain(words);
    }
  });

  it('shows its state', () => {
    const stands = (status: Parameters<typeof incidentData>[0]) =>
      print(drawIncident(incidentData(status))).split('\n')[0];
    expect(
      stands({ status: { state: 'resolved', isForNext: true, changedBy: 'ada', changedAt: NOW - 3 * Minute } }),
    ).toBe('7K3QM2XA  Resolved (in the next release, by ada, 3 min ago)  Exception');
    expect(stands({ status: { state: 'open', isRegression: true } })).toContain(
      'Open (came back after it was resolved)',
    );
    expect(stands({ status: { state: 'ignored', ignoredUntilMore: 1000 } })).toContain(
      'until 1,000 more within an hour',
    );
  });

  it('says which occurrence it cannot show', () => {
    const missed = { occurrence: '0000000Z', state: 'thinned' as const };
    expect(print(drawIncident(incidentData({ missed })))).toContain('0000000Z was sampled out');
    const { shown: _shown, ...rest } = incidentData();
    expect(print(drawIncident(rest))).toContain('No stored occurrences');
  });

  it.each<[string, StoryShape, string[]]>([
    [
      'a hydration error',
      { kind: 'hydration', said: '  <p>\n+ 8:31\n- 20:31', meaning: 'The server sent another text.' },
      ['What differed', '+ 8:31', '- 20:31'],
    ],
    [
      'a crash',
      {
        kind: 'unclean-death',
        startedAt: NOW - 9 * Minute,
        lastHeardAt: NOW - Minute,
        memory: 512 * 1024 * 1024,
        growth: growthShape(),
        inFlight: [{ requestId: 'r-1', method: 'GET', route: '/orders', ms: 4000 }],
      },
      [
        'Uptime          8 min',
        'Memory          512 MiB',
        '4.0 s  GET /orders  r-1',
        'The heap grew from 30 MiB to 440 MiB of at most 592 MiB in 12 min',
      ],
    ],
    [
      'a blocked loop',
      { kind: 'blocked-loop', ms: 3 * Second, since: NOW },
      ['The event loop was blocked', '3.0 s from 2026-11-21 20:31:07 UTC'],
    ],
    [
      'a browser report',
      { kind: 'report', facts: [['directive', 'img-src']] },
      ['What the browser reported', 'directive  img-src'],
    ],
  ])('shows %s', (_name, story, words) => {
    const text = print(drawIncident(incidentData({ shown: occurrenceShape({ whole: wholeShape({ story }) }) })));
    for (const some of words) expect(text).toContain(some);
  });

  it('fits a narrow terminal without losing text', () => {
    const text = print(drawIncident(incidentData()), 40);
    expect(widest(text)).toBeLessThanOrEqual(40);
    expect(text.replace(/\s+/g, '')).toContain('Safari/604.1');
  });

  it('contains nothing that a terminal executes', () => {
    const data = poison(incidentData({ missed: { occurrence: '0000000Z', state: 'thin', requestId: 'r' } }));
    const stories: StoryShape[] = [
      { kind: 'hydration', said: EVIL, meaning: EVIL },
      { kind: 'unclean-death', lastHeardAt: NOW, inFlight: [{ requestId: EVIL, method: EVIL, route: EVIL, ms: 1 }] },
      { kind: 'report', facts: [[EVIL, EVIL]] },
    ];
    const texts = [
      ...stories.map((story) =>
        drawIncident({ ...data, shown: occurrenceShape({ whole: poison(wholeShape({ story })) }) }),
      ),
      drawList(
        { now: NOW, view: incidentsData().view, rows: [poison(incidentRow())], total: 1, command: 'x' },
        { colour: true, width: 200 },
      ),
    ].map((lines) => toText(lines, { colour: true, width: 80 }));
    for (const text of texts) {
      expect(text).toContain('\\x1b[2J');
      // Only Spillway's colours remain.
      expect(text.replaceAll(COLOUR, '')).not.toMatch(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/u);
    }
  });
});

/** Returns a copy with hostile characters behind each free text. */
function poison<Shape>(shape: Shape, key = ''): Shape {
  if (typeof shape === 'string') return (FIXED.has(key) ? shape : shape + EVIL) as Shape;
  if (Array.isArray(shape)) return shape.map((item, at) => poison(item, toKey(shape, at, key))) as Shape;
  if (typeof shape !== 'object' || shape === null) return shape;
  return Object.fromEntries(Object.entries(shape).map(([name, value]) => [name, poison(value, name)])) as Shape;
}

/** Fields with fixed values, which are used for lookups. */
const FIXED = new Set(['kind', 'state', 'side', 'level', 'digest', 'colour']);

/** The first of two items in a source line is its colour. */
function toKey(items: readonly unknown[], at: number, key: string): string {
  const isColour = key === 'lines' && at === 0 && items.length === 2 && items.every((item) => typeof item === 'string');
  return isColour ? 'colour' : key;
}
