import { Day, Hour } from '../../shared/units.ts';
import type { FailureKind } from '../../shared/words.ts';

/** Labels of the kinds, for lists and filters. */
export const KIND_WORDS = {
  exception: 'Exception',
  hydration: 'Hydration mismatch',
  load: 'Asset not loaded',
  network: 'Network',
  timeout: 'Time-out',
  'script-error': 'Foreign script',
  'server-exit': 'Server ended',
  'unclean-death': 'Process died',
  'blocked-loop': 'Loop blocked',
  csp: 'Policy violation',
  crash: 'Browser crash',
  deprecation: 'Deprecation',
  intervention: 'Intervention',
} as const satisfies Readonly<Record<FailureKind, string>>;

export const KINDS = Object.keys(KIND_WORDS) as readonly (keyof typeof KIND_WORDS)[];

export const STATE_WORDS = {
  open: 'Open',
  resolved: 'Resolved',
  ignored: 'Ignored',
} as const;

export const STATES = Object.keys(STATE_WORDS) as readonly (keyof typeof STATE_WORDS)[];

/** Where failures happen. */
export const SIDES = ['server', 'browser'] as const;

/** An option of a select. */
export type Choice = readonly [value: string, words: string, ...more: readonly unknown[]];

/** Values in the list's URL, with their labels. */
export const SORTS = [
  ['last', 'Last seen'],
  ['first', 'First seen'],
  ['count', 'Count'],
  ['visitors', 'Visitors'],
] as const satisfies readonly Choice[];

/** With milliseconds. */
export const WITHIN = [
  ['1h', 'Last hour', Hour],
  ['24h', 'Last 24 hours', Day],
  ['7d', 'Last 7 days', 7 * Day],
  ['30d', 'Last 30 days', 30 * Day],
] as const satisfies readonly Choice[];

/** Values of `when` in `incident.resolve`. */
export const RESOLVE_CHOICES = [
  ['now', 'now'],
  ['next', 'in the next release'],
] as const satisfies readonly Choice[];

/** Values of `how` in `incident.ignore`, with what ends it. */
export const IGNORE_CHOICES = [
  ['ever', 'forever', {}],
  ['1h', 'for an hour', { ms: Hour }],
  ['24h', 'for a day', { ms: Day }],
  ['7d', 'for a week', { ms: 7 * Day }],
  ['10', 'until 10 more within an hour', { untilMore: 10 }],
  ['100', 'until 100 more within an hour', { untilMore: 100 }],
] as const satisfies readonly Choice[];

/** The most characters of a note. A line end counts as one. */
export const MAX_NOTE_LENGTH = 4000;
