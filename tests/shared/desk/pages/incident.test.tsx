import { renderToStaticMarkup } from 'react-dom/server';
import { MemoryRouter } from 'react-router';
import { describe, expect, it } from 'vitest';
import Incident from '../../../../src/shared/desk/pages/incident/incident.tsx';
import type { IncidentData, StoryShape, FullShape } from '../../../../src/shared/desk/shapes.ts';
import { Hour, MiB, Minute } from '../../../../src/shared/units.ts';
import { growthShape, incidentData, NOW, occurrenceShape, fullShape } from '../../../support/desk-shapes.ts';

const renderData = (data: IncidentData) =>
  renderToStaticMarkup(
    <MemoryRouter>
      <Incident data={data} />
    </MemoryRouter>,
  );
const render = (more: Partial<IncidentData> = {}) => renderData(incidentData(more));
const renderWhole = (full: Partial<FullShape>) => render({ shown: occurrenceShape({ full: fullShape(whole) }) });
const renderStory = (story: StoryShape) => renderWhole({ story });
/** The visible text: without tags, and with whitespace collapsed. */
const read = (html: string) =>
  html
    .replaceAll('<wbr/>', '')
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&#x27;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replace(/\s+/g, ' ');

describe('an incident', () => {
  it('shows the test of its occurrence as text', () => {
    const test = { file: 'tests/product/failures/7K3QM2XA.test.ts', text: "it('<b>', () => {});", missing: [] };
    const text = read(renderWhole({ test }));
    expect(text).toContain("Copy as test tests/product/failures/7K3QM2XA.test.ts it('<b>', () => {});".slice(0, 50));
    expect(renderWhole({ test })).toContain('<pre>it(&#x27;&lt;b&gt;&#x27;, () =&gt; {});</pre>');
    expect(renderWhole({})).not.toContain('Copy as test');
  });

  it('shows its digest, status, title and place first', () => {
    const html = render({ status: { state: 'open', isRegression: true } });
    const text = read(html.replace(/<title>[^<]*· Desk<\/title>/, ''));
    const places = [
      '7K3QM2XA',
      'Regression',
      "TypeError: Cannot read properties of undefined (reading 'total')",
      'loadCart , src/server/product/pages/cart.ts:24 , on /orders/:id',
      'Stack',
      'Request',
      'What led to it',
    ].map((words) => text.indexOf(words));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((left, right) => left - right));
  });

  it('shows affected visitors, times, releases and the assignee', () => {
    const text = read(render({ assignee: 'grace' }));
    expect(text).toContain('Visitors 131');
    expect(text).toContain('Last seen 3 min ago');
    expect(text).toContain('Releases v1.3.2 to v1.4.0');
    expect(text).toContain('Assigned to grace');
    expect(text).toContain('v1.4.0 regressed here');
  });

  it.each([
    [{ state: 'resolved', isForNext: true }, 'in the next release'],
    [{ state: 'ignored', ignoredUntil: NOW + Hour }, 'until 2026-11-21 21:31:07 UTC'],
    [{ state: 'ignored', ignoredUntilMore: 10 }, 'until it happens 10 more times within an hour'],
    [{ state: 'ignored' }, 'forever'],
  ] as const)('shows when its state ends: %o', (status, words) => {
    expect(read(render({ status }))).toContain(words);
  });

  it('offers changes only to operators who can make them', () => {
    const names = (html: string) => [...html.matchAll(/name="_action" value="([^"]+)"/g)].map(([, name]) => name);
    expect(names(render({ merged: ['2M3KQ7XA'] })).toSorted()).toEqual([
      'incident.addNote',
      'incident.assign',
      'incident.ignore',
      'incident.merge',
      'incident.remove',
      'incident.removeFeedback',
      'incident.removeNote',
      'incident.removeOccurrence',
      'incident.resolve',
      'incident.separate',
    ]);
    expect(render({ operator: { name: 'bob', canChange: false } })).not.toContain('<form');
  });

  it('offers to reopen a resolved incident', () => {
    expect(render({ status: { state: 'resolved' } })).toContain('incident.reopen');
    expect(render({ status: { state: 'resolved' } })).not.toContain('incident.resolve');
  });

  it('has no style attributes, which the CSP of the desk would block', () => {
    expect(render()).not.toMatch(/\sstyle=/);
  });
});

describe('the stack', () => {
  it('marks the line that failed, with the lines around it', () => {
    const [line] = /<span class="[^"]*place[^"]*">.*?\n/.exec(render()) ?? [''];
    expect(read(line)).toBe(' 24 This line: return { total: cart.order.total * 1.19 , currency }; ');
    expect(read(render())).toContain('// The cart of a visitor who was away for long is gone.');
  });

  it('expands application frames, and groups frames of the engine and dependencies', () => {
    const details = [...render().matchAll(/<details( open="")?><summary>(.*?)<\/summary>/g)];
    expect(details.map(([, open, summary = '']) => [open !== undefined, read(summary).trim()])).toEqual(
      expect.arrayContaining([
        [true, 'loadCart src/server/product/pages/cart.ts:24:31'],
        [false, '3 frames of pg-pool, Node, Spillway'],
        [false, 'async runLoader src/server/engine/pages/load-page.ts:96:22'],
      ]),
    );
  });

  it('follows the chain of causes', () => {
    expect(read(render())).toContain('caused by DatabaseError: relation "carts" does not exist 42P01');
  });

  it('is also available as text, for browsers without scripts', () => {
    expect(render()).toContain('at loadCart (src/server/product/pages/cart.ts:24:31)');
  });
});

describe('what led to it', () => {
  it('ends with the failure, and shows how long before it each breadcrumb happened', () => {
    const text = read(render());
    expect(text).toContain('−14.0 s navigation from /orders to /orders/7');
    expect(text).toContain('−2.0 s fetch GET https://api.example.com/carts/7 status 200');
    expect(text).toMatch(/The cart has no order\. 0 failure TypeError/);
  });

  it('collapses earlier breadcrumbs', () => {
    const many = Array.from({ length: 30 }, (_, index) => ({
      at: NOW - Hour + index,
      category: 'log',
      message: `mark ${index}`,
      level: 'info' as const,
      data: [],
    }));
    expect(read(renderWhole({ breadcrumbs: many }))).toContain('10 marks before');
  });
});

describe('details of a kind', () => {
  it('shows the difference at hydration', () => {
    const html = renderStory({ kind: 'hydration', said: '  <time>\n+   20:31\n-   20:30', meaning: '' });
    expect(html).toMatch(/class="[^"]*browser[^"]*">\+ {3}20:31/);
    expect(html).toMatch(/class="[^"]*server[^"]*">- {3}20:30/);
    expect(read(html)).toContain('Lines with + were rendered by the browser');
    const meant = read(renderStory({ kind: 'hydration', said: '', meaning: 'The text differs.' }));
    expect(meant).toContain('What differed The text differs.');
    expect(meant).not.toContain('Lines with +');
  });

  it('names the components around a failed render, up to the engine', () => {
    const html = renderWhole({
      components: [
        { name: 'time', place: '', isOwn: false },
        { name: 'Clock', place: 'src/shared/product/ui/clock.tsx:12', isOwn: true },
        { name: 'RouteView', place: 'src/shared/engine/routing/route-view.tsx:14', isOwn: false },
      ],
    });
    expect(read(html)).toContain(
      '<time> <Clock> src/shared/product/ui/clock.tsx:12 1 component further out <RouteView>',
    );
  });

  it('shows the last activity of a process that died', () => {
    const text = read(
      renderStory({
        kind: 'unclean-death',
        startedAt: NOW - 3 * Hour,
        lastHeardAt: NOW - 10 * Minute,
        memory: 1946 * MiB,
        blockedFor: 4300,
        growth: growthShape(),
        inFlight: [{ requestId: 'request-1', method: 'GET', route: '/reports/:year', ms: 14_200 }],
      }),
    );
    expect(text).toContain('Uptime 2 h 50 min');
    expect(text).toContain('Memory 1,946 MiB');
    expect(text).toContain('Blocked for 4.3 s');
    expect(text).toContain('14.2 s GET /reports/:year request-1');
    expect(text).toContain(
      'How memory grew The heap grew from 30 MiB to 440 MiB of at most 592 MiB in 12 min, and the memory',
    );
    expect(text).toContain('a bar is 2 min');
  });

  it('shows for how long the event loop was blocked', () => {
    expect(read(renderStory({ kind: 'blocked-loop', ms: 3200, since: NOW }))).toContain(
      'The event loop was blocked 3.2 s from 2026-11-21 20:31:07 UTC',
    );
  });

  it('shows reports of the browser itself', () => {
    expect(read(renderStory({ kind: 'report', facts: [['directive', 'img-src']] }))).toContain('directive img-src');
  });
});

describe('an occurrence that is not kept in full', () => {
  it.each([
    ['thinned', 'was only counted'],
    ['unknown', 'is unknown or was deleted'],
  ] as const)('is reported as missing if it is %s, and the nearest one is shown', (state, words) => {
    const text = read(render({ missed: { occurrence: 'ABCDEFGH', state } }));
    expect(text).toContain('ABCDEFGH');
    expect(text).toContain(words);
    expect(text).toContain('loadCart');
  });

  it('shows time and request of an occurrence whose row is kept', () => {
    const missed = { occurrence: 'ABCDEFGH', state: 'thin', at: NOW - Hour, requestId: 'request-9' } as const;
    expect(read(render({ missed }))).toContain('ABCDEFGH , 1 h ago , request request-9 was sampled out');
  });

  it('keeps the rest of the page if no occurrence is left', () => {
    const { shown: _shown, ...rest } = incidentData({ recent: [] });
    const text = read(renderData(rest));
    expect(text).toContain('No stored occurrences');
    expect(text).toContain('How often');
  });
});
