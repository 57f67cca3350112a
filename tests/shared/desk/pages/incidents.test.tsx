import { renderToStaticMarkup } from 'react-dom/server';
import { MemoryRouter } from 'react-router';
import { describe, expect, it } from 'vitest';
import { USUAL_VIEW } from '../../../../src/shared/desk/href.ts';
import Incidents from '../../../../src/shared/desk/pages/incidents/incidents.tsx';
import type { IncidentsData } from '../../../../src/shared/desk/shapes.ts';
import { incidentRow, incidentsData } from '../../../support/desk-shapes.ts';

const render = (more: Partial<IncidentsData> = {}) =>
  renderToStaticMarkup(
    <MemoryRouter>
      <Incidents data={incidentsData(more)} />
    </MemoryRouter>,
  );
const read = (html: string) =>
  html
    .replaceAll('<wbr/>', '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');

describe('the list', () => {
  it('shows each incident with title, place, count, visitors and times', () => {
    const html = render({ rows: [incidentRow({ assignee: 'grace' })] });
    const text = read(html);
    for (const words of [
      'Cannot read properties of undefined',
      'Exception',
      '/orders/:id',
      'loadCart',
      'src/server/product/pages/cart.ts:24',
      'server browser',
      '420 times',
      '131 visitors',
      '3 min ago',
      'first 6 d ago',
      'v1.3.2 to v1.4.0',
      'for grace',
    ]) {
      expect(text).toContain(words);
    }
    expect(html).toContain('title="2026-11-21 20:28:07 UTC"');
    expect(html).toContain('aria-label="172 times in 24 hours."');
  });

  it('shows the state if the tab does not imply it', () => {
    expect(read(render())).not.toContain('Open Exception');
    expect(read(render({ rows: [incidentRow({ status: { state: 'open', isRegression: true } })] }))).toContain(
      'Regression Exception',
    );
    expect(read(render({ view: { ...USUAL_VIEW, state: 'all' } }))).toContain('Open Exception');
  });

  it('keeps the view in the addresses of tabs and of further pages', () => {
    const html = render({ view: { ...USUAL_VIEW, sort: 'count', search: 'total' }, next: 'NEXT' });
    expect(html).toContain('href="/desk?state=resolved&amp;sort=count&amp;search=total"');
    expect(html).toContain('href="/desk?sort=count&amp;search=total&amp;after=NEXT"');
    expect(html).toContain('<input type="hidden" name="search" value="total"/>');
  });

  it('offers a requested filter that no longer exists, so that it can be seen and removed', () => {
    const html = render({ view: { ...USUAL_VIEW, release: 'v0.1' } });
    expect(html).toContain('<option value="v0.1" selected="">v0.1</option>');
    expect(read(html)).toContain('Clear filters');
    expect(html).toMatch(/<details[^>]* open=""><summary>Filters/);
  });

  it('lets only operators who can change incidents select rows', () => {
    expect(render()).toContain('type="checkbox"');
    expect(render()).toContain('value="incidents.resolve"');
    const viewer = render({ operator: { name: 'bob', canChange: false } });
    expect(viewer).not.toContain('type="checkbox"');
    expect(viewer).not.toContain('method="post"');
  });

  it('has no style attributes, which the CSP of the desk would block', () => {
    expect(render()).not.toMatch(/\sstyle=/);
  });
});

describe('a list without rows', () => {
  it.each([
    ['nothing has failed yet', { isNew: true }, 'Nothing has failed yet'],
    ['no incident matches the filters', { view: { ...USUAL_VIEW, kind: 'csp' } }, 'Show all incidents'],
    ['no incident is open', {}, 'No open incidents'],
    ['nothing was resolved', { view: { ...USUAL_VIEW, state: 'resolved' } }, 'Resolve an incident when'],
    ['a page is past the end', { cursor: 'X' }, 'Go to its first page'],
  ] as const)('says what to do if %s', (_case, more, words) => {
    expect(read(render({ rows: [], ...more }))).toContain(words);
  });
});
