import { SORTS, SPANS, WITHIN, WITHIN_TIMES } from '../../shared/choices.ts';
import { USUAL_VIEW } from '../../shared/href.ts';
import type { SortName, ViewShape } from '../../shared/page-data.ts';
import { KIND_WORDS, STATE_WORDS } from '../../shared/words.ts';
import type { IncidentFilter, IncidentOrder } from '../store/list-incidents.ts';

/** The longest filter or search text (characters). */
const MAX_TEXT = 250;

/** Reads the view of the list from a URL. Invalid values are ignored. */
export function readView(search: URLSearchParams): ViewShape {
  const text = (name: string) => (search.get(name) ?? '').trim().slice(0, MAX_TEXT);
  return {
    state: pick(text('state'), [...Object.keys(STATE_WORDS), 'all'], USUAL_VIEW.state),
    sort: pick(text('sort'), firsts(SORTS), USUAL_VIEW.sort),
    span: pick(text('span'), firsts(SPANS), USUAL_VIEW.span),
    search: text('search'),
    side: pick(text('side'), ['server', 'browser'], ''),
    kind: pick(text('kind'), Object.keys(KIND_WORDS), ''),
    route: text('route'),
    release: text('release'),
    environment: text('environment'),
    within: pick(text('within'), firsts(WITHIN), ''),
  };
}

/** Returns the environment that a URL of the desk names; empty for the server's environment. */
export function readScope(url: URL): string {
  return readView(url.searchParams).environment;
}

function pick<Value extends string>(text: string, known: readonly string[], usual: Value): Value {
  return known.includes(text) ? (text as Value) : usual; // the lists hold what the shape names
}

function firsts(choices: readonly (readonly [value: string, words: string])[]): string[] {
  return choices.map(([value]) => value);
}

export const ORDERS: Readonly<Record<SortName, IncidentOrder>> = {
  last: 'lastSeen',
  first: 'firstSeen',
  count: 'count',
  visitors: 'visitors',
};

/**
 * Returns the store's filter for a view.
 *
 * @param environment the server's environment, which is used if the view names none
 */
export function toFilter(
  view: ViewShape,
  { now, environment }: { readonly now: number; readonly environment: string },
): IncidentFilter & { readonly environment: string } {
  const within = WITHIN_TIMES[view.within];
  return {
    ...(view.state !== 'all' && { states: [view.state] }),
    ...(view.side !== '' && { side: view.side }),
    ...(view.kind !== '' && { kinds: [view.kind] }),
    ...(view.route !== '' && { route: view.route }),
    ...(view.release !== '' && { release: view.release }),
    environment: view.environment || environment,
    ...(within !== undefined && { from: now - within }),
    ...(view.search !== '' && { search: view.search }),
  };
}
