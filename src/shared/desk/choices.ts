import { Day, Hour } from '../units.ts';
import type { SortName, SpanName } from './shapes.ts';

type Choice<Value extends string = string> = readonly [value: Value, words: string];

/** What the address of a list may say, in words. */
export const SORTS = [
  ['last', 'Last seen'],
  ['first', 'First seen'],
  ['count', 'Count'],
  ['visitors', 'Visitors'],
] as const satisfies readonly Choice<SortName>[];

export const SPANS = [
  ['24h', '24 hours'],
  ['14d', '14 days'],
] as const satisfies readonly Choice<SpanName>[];

export const WITHIN = [
  ['1h', 'Last hour'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
] as const satisfies readonly Choice[];

/** The same in milliseconds. */
export const WITHIN_TIMES: Readonly<Record<string, number>> = {
  '1h': Hour,
  '24h': Day,
  '7d': 7 * Day,
  '30d': 30 * Day,
};

/** What `assignee` says for incidents that nobody has: a name has letters. */
export const NOBODY = '-';

/** What `incident.resolve` takes as `when`. */
export const RESOLVE_CHOICES = [
  ['now', 'now'],
  ['next', 'in the next release'],
] as const satisfies readonly Choice[];

/** What `incident.ignore` takes as `how`. */
export const IGNORE_CHOICES = [
  ['ever', 'forever'],
  ['1h', 'for an hour'],
  ['24h', 'for a day'],
  ['7d', 'for a week'],
  ['10', 'until 10 more within an hour'],
  ['100', 'until 100 more within an hour'],
] as const satisfies readonly Choice[];
