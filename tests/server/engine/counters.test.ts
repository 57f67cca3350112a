import { expect, it } from 'vitest';
import { Counters } from '../../../src/server/engine/counters.ts';

it('adds up by name and labels', () => {
  const counters = new Counters();
  counters.count('spillway_reports_ignored_total', { reason: 'redirect' });
  counters.count('spillway_reports_ignored_total', { reason: 'redirect' }, 2);
  counters.count('spillway_reports_ignored_total', { reason: 'not "found"' });
  counters.count('spillway_others_total');
  expect(counters.list()).toEqual({
    'spillway_reports_ignored_total{reason="redirect"}': 3,
    'spillway_reports_ignored_total{reason="not \\"found\\""}': 1,
    spillway_others_total: 1,
  });
});
