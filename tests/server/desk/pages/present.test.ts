import { describe, expect, it } from 'vitest';
import type { DeskLinks } from '../../../../src/server/desk/links.ts';
import type { ChangeAction, LoggedChange } from '../../../../src/server/desk/store/change-log.ts';
import type { Incident, Occurrence, StoredFailure } from '../../../../src/server/desk/store/records.ts';
import { presentBreadcrumb } from '../../../../src/server/desk/views/present-breadcrumb.ts';
import { presentChanges } from '../../../../src/server/desk/views/present-changes.ts';
import { presentCharts, presentMarks } from '../../../../src/server/desk/views/present-charts.ts';
import { presentIncident, presentSimilar } from '../../../../src/server/desk/views/present-incident.ts';
import { presentOccurrence } from '../../../../src/server/desk/views/present-occurrence.ts';
import { Day, Hour } from '../../../../src/shared/units.ts';
import { createFailure } from '../../../support/desk.ts';

const NOW = Date.UTC(2026, 10, 21, 20, 31, 7);
/** Fields that no shape contains. They must not appear in the result. */
const RAW = { secret: 'canary', id: 'canary-id', eventId: 'canary' };

const incident: Incident = {
  key: '7K3QM2XA',
  digest: '7K3QM2XA',
  environment: 'production',
  rule: 1,
  kind: 'exception',
  title: 'TypeError: boom',
  class: 'TypeError',
  message: 'boom',
  site: { path: 'src/a.ts', function: 'a', detail: 'throw' },
  weak: false,
  state: 'open',
  version: 3,
  firstSide: 'server',
  firstAt: NOW - Day,
  lastAt: NOW,
  firstRelease: 'v1',
  firstBuild: 'b1',
  lastRelease: 'v2',
  lastBuild: 'b2',
  counts: { server: 1, browser: 2 },
  visitors: 0,
  aliases: [],
};

function present(failure: Partial<StoredFailure>, links: DeskLinks = {}) {
  const whole = { ...createFailure(failure), ...failure, ...RAW } as StoredFailure;
  const { digest, occurrence, at, side, build, release } = whole;
  const found: Occurrence = { digest, occurrence, at, side, build, release, isWhole: true, whole };
  return presentOccurrence({ ...found, ...RAW } as Occurrence, links);
}

describe('an occurrence', () => {
  it('contains only the fields that a page shows', () => {
    expect(JSON.stringify(present({ visitor: 'v' }))).not.toContain('canary');
    expect(present({}).whole).not.toHaveProperty('echoOf');
  });

  it('shows frames by the source maps, with highlighted lines and without their common indent', () => {
    const frame = { file: 'server/main.js', line: 9, column: 9, function: 'x' };
    const resolved = {
      file: 'src/server/product/a.ts',
      line: 2,
      column: 5,
      function: 'total',
      own: true,
      context: { start: 1, lines: ['    if (x) {', '      throw y;', '', '    }'] },
    };
    const errors = [{ class: 'Error', message: 'm', frames: [frame, { ...frame, file: 'node:fs' }] }];
    const { whole } = present(
      { errors, resolved: [[resolved]], release: 'v1' },
      { source: 'https://code.example/{release}/{file}#L{line}' },
    );
    expect(whole?.errors[0]?.frames[0]).toEqual({
      file: 'src/server/product/a.ts',
      line: 2,
      column: 5,
      function: 'total',
      isOwn: true,
      isEngine: false,
      isAsync: false,
      link: 'https://code.example/v1/src/server/product/a.ts#L2',
      source: {
        start: 1,
        lines: [[['keyword', 'if'], ' (x) {'], ['  ', ['keyword', 'throw'], ' y;'], [], ['}']],
      },
    });
    expect(whole?.errors[0]?.frames[1]).toMatchObject({ file: 'node:fs', isOwn: false });
    expect(whole?.errors[0]?.frames[1]).not.toHaveProperty('link');
    expect(whole?.stackText).toBe('Error: m\n    at total (src/server/product/a.ts:2:5)\n    at x (node:fs:9:9)');
  });

  it('shows the request with its user agent spelled out, and each header once', () => {
    const headers = { Referer: '/orders', 'User-Agent': 'curl/8.4.0', Accept: '*/*' };
    expect(present({ request: { method: 'GET', url: '/x', headers } }).whole?.request).toEqual({
      method: 'GET',
      url: '/x',
      referrer: '/orders',
      agent: { words: 'curl 8.4', raw: 'curl/8.4.0' },
      headers: [['accept', '*/*']],
    });
  });

  it('shows what a crashed process was doing, the longest request first', () => {
    const inFlight = [
      { requestId: 'a', method: 'GET', route: '/a', ms: 5 },
      { requestId: 'b', method: 'GET', route: '/b', ms: 900 },
      'no request',
    ];
    const extra = { run: 'r1', startedAt: NOW - Hour, lastHeardAt: NOW, memory: 1000, inFlight };
    const { whole } = present({ kind: 'unclean-death', errors: [], extra });
    expect(whole?.story).toMatchObject({ kind: 'unclean-death', memory: 1000, lastHeardAt: NOW });
    expect(whole?.story?.kind === 'unclean-death' && whole.story.inFlight.map(({ ms }) => ms)).toEqual([900, 5, 0]);
    expect(whole?.extra).toEqual([['run', 'r1']]);
  });

  describe('a process with a memory history', () => {
    const MIB = 1024 * 1024;
    const grow = (memory: number, heap: number, steps: number) => {
      const points = Array.from({ length: steps }, (_, index) => [
        (100 + memory * index) * MIB,
        (40 + heap * index) * MIB,
      ]);
      const memoryHistory = { at: NOW - steps * 10_000, step: 10_000, points, heapLimit: 4096 * MIB };
      const extra = { lastHeardAt: NOW, memory: (100 + memory * steps) * MIB, inFlight: [], memoryHistory };
      const { whole } = present({ kind: 'unclean-death', errors: [], extra });
      expect(whole?.extra).toEqual([]);
      return whole?.story?.kind === 'unclean-death' ? whole.story.growth : undefined;
    };

    it('shows what grew since it had settled', () => {
      expect(grow(10, 9, 30)).toMatchObject({
        where: 'heap',
        from: { memory: 160 * MIB, heap: 94 * MIB },
        to: { memory: 400 * MIB, heap: 301 * MIB },
        ms: 240_000,
      });
      expect(grow(10, 1, 30)).toMatchObject({ where: 'outside' });
      expect(grow(0.5, 0.5, 30)).toMatchObject({ where: 'nowhere' });
    });

    it('measures a short-lived process from its start', () => {
      expect(grow(10, 9, 6)).toMatchObject({ from: { memory: 100 * MIB }, ms: 60_000 });
    });

    it.each([
      [undefined],
      ['no history'],
      [{ at: 1, step: 0, points: [[1, 2]] }],
      [{ at: 1, step: 1, points: ['x', [1]] }],
    ])('shows no growth for %j', (memoryHistory) => {
      const { whole } = present({ kind: 'unclean-death', errors: [], extra: { memoryHistory } });
      expect(whole?.story).not.toHaveProperty('growth');
    });
  });

  it('shows how long the event loop was blocked', () => {
    const extra = { ms: 3200, since: new Date(NOW).toISOString() };
    expect(present({ kind: 'blocked-loop', extra }).whole?.story).toEqual({
      kind: 'blocked-loop',
      ms: 3200,
      since: NOW,
    });
    expect(present({ kind: 'blocked-loop', extra: { since: 'never' } }).whole?.story).toEqual({
      kind: 'blocked-loop',
      ms: 0,
    });
  });

  it("shows what differed at hydration: React's message, or the meaning of its error number", () => {
    const said = 'Hydration failed because …\n+ a\n- b';
    const dev = present({ kind: 'hydration', extra: { contexts: { react: { said }, browser: 'x' } } }).whole;
    expect(dev?.story).toEqual({ kind: 'hydration', said, meaning: '' });
    expect(dev?.extra).toEqual([['contexts', '{"browser":"x"}']]);
    const number =
      'Minified React error #418; visit https://react.dev/errors/418?args[]=text&args[]= for the full message';
    const live = present({ kind: 'hydration', errors: [{ class: 'Error', message: number, frames: [] }] }).whole;
    expect(live?.story).toMatchObject({
      said: '',
      meaning: expect.stringContaining('The text rendered by the server'),
    });
  });

  it('shows what a browser reported', () => {
    const { whole } = present({ kind: 'csp', extra: { directive: 'img-src', blocked: 'evil.example', other: 'x' } });
    expect(whole?.story).toEqual({
      kind: 'report',
      facts: [
        ['directive', 'img-src'],
        ['blocked', 'evil.example'],
      ],
    });
    expect(whole?.extra).toEqual([['other', 'x']]);
  });

  it('shortens very long values', () => {
    expect(present({ extra: { long: 'x'.repeat(5000) } }).whole?.extra[0]?.[1]).toHaveLength(2001);
  });
});

describe('a breadcrumb', () => {
  it.each([
    ['fetch', { method: 'POST', url: '/orders', status_code: 422 }, 'POST /orders 422'],
    ['navigation', { from: '/a', to: '/b' }, 'from /a to /b'],
    ['ui.input', { path: 'form' }, ''],
  ])('without a message gets one: %s', (category, data, message) => {
    const shown = presentBreadcrumb({ at: NOW, category, message: '', data });
    expect(shown.message).toBe(message);
    expect(shown.data).toEqual(message === '' ? [['path', 'form']] : []);
  });

  it('keeps its message', () => {
    const mark = { at: NOW, category: 'fetch', message: 'GET /x', data: { status: 200 } };
    expect(presentBreadcrumb(mark)).toMatchObject({ message: 'GET /x', level: 'info', data: [['status', '200']] });
  });
});

describe('an incident', () => {
  it('contains only the fields that a page shows', () => {
    expect(JSON.stringify(presentIncident({ ...incident, ...RAW } as Incident, undefined))).not.toContain('canary');
  });

  it.each([
    ['unclean-death', 'unclean-death', 'Process died'],
    ['csp', 'csp img-src cdn.example', 'Policy violation: img-src cdn.example'],
    ['exception', 'Error: exception in a cart', 'Error: exception in a cart'],
    [
      'hydration',
      'Error: Minified React error #418; visit https://react.dev/errors/418?args[]=text for',
      'The text rendered by the server',
    ],
  ] as const)('of kind %s has a readable title: %s', (kind, title, words) => {
    expect(presentIncident({ ...incident, kind, title }, undefined).title).toMatch(words);
  });

  it('gets its line from an occurrence', () => {
    const frame = { file: 'src/a.ts', line: 7, column: 1, function: 'a', own: true };
    const full: StoredFailure = { ...createFailure(), resolved: [[{ ...frame, file: 'src/b.ts', line: 1 }, frame]] };
    expect(presentIncident(incident, whole).place).toEqual({ file: 'src/a.ts', function: 'a', line: 7 });
  });

  it('is similar to another one for a stated reason', () => {
    expect(presentSimilar({ ...incident, digest: 'A' }, incident).because).toBe('file');
    const { site: _site, ...without } = incident;
    expect(presentSimilar(without, incident).because).toBe('message');
  });
});

describe('changes', () => {
  const change = (action: ChangeAction, detail: LoggedChange['detail'], author = 'ada'): LoggedChange => {
    return { id: 1, digest: '7K3QM2XA', at: NOW, author, action, detail };
  };

  it.each([
    [change('resolved', { in: 'next' }), 'ada', 'resolved it in the next release'],
    [change('ignored', { until: NOW }), 'ada', 'ignored it until 2026-11-21 20:31:07 UTC'],
    [change('ignored', { growth: 10 }), 'ada', 'ignored it until it happens 10 more times within an hour'],
    [change('ignored', {}), 'ada', 'ignored it forever'],
    [change('assigned', { to: 'grace' }), 'ada', 'assigned it to grace'],
    [change('assigned', { to: null }), 'ada', 'unassigned it'],
    [change('regressed', { release: 'v2' }, ''), 'The desk', 'reopened it: it came back in v2'],
    [change('grown', { count: 10 }, ''), 'The desk', 'reopened it: it happened 10 more times within an hour'],
    [change('merged', { digest: '2M3KQ7XA' }), 'ada', 'merged 2M3KQ7XA into it'],
  ])('are described: %o', (logged, by, words) => {
    expect(presentChanges([logged], [])).toEqual([{ id: 'change-1', at: NOW, by, words }]);
  });

  it('and notes are merged in order of time, latest first', () => {
    const note = (id: number, at: number) => ({ id, digest: '7K3QM2XA', at, author: 'ada', text: 'x' });
    const all = presentChanges([change('opened', {})], [note(2, NOW + 1), note(3, NOW - 1)]);
    expect(all.map(({ id }) => id)).toEqual(['note-2', 'change-1', 'note-3']);
  });
});

describe('charts', () => {
  const hour = (at: number, server: number) => ({ at, server, browser: 1, kept: 0 });
  const thisHour = Math.floor(NOW / Hour) * Hour;

  it('count the last day by the hour and the last two weeks by the day', () => {
    const hours = [hour(thisHour - 20 * Day, 1), hour(thisHour - Day, 2), hour(thisHour - Hour, 3), hour(thisHour, 4)];
    const { day, fortnight } = presentCharts(hours, NOW);
    expect(day).toMatchObject({ start: thisHour - 23 * Hour, step: Hour });
    expect(day.counts.slice(-2)).toEqual([4, 5]);
    expect(day.counts).toHaveLength(24);
    expect(fortnight.counts.slice(-2)).toEqual([3, 9]);
    expect(fortnight.counts).toHaveLength(14);
  });

  it('count occurrences from a clock that is ahead in the last bar', () => {
    expect(presentCharts([hour(thisHour + Hour, 1)], NOW).day.counts.at(-1)).toBe(2);
  });

  it('mark each release at its first start', () => {
    const builds = [
      { release: 'v2', firstAt: NOW - Hour },
      { release: 'v1', firstAt: NOW - Day },
      { release: 'v2', firstAt: NOW - 2 * Hour },
      { release: 'v0', firstAt: NOW - 20 * Day },
    ];
    expect(presentMarks(builds, NOW)).toEqual([
      { release: 'v1', at: NOW - Day },
      { release: 'v2', at: NOW - 2 * Hour },
    ]);
  });
});
