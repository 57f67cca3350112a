import { KINDS, SIDES, SORTS, STATES, WITHIN } from '../shared/choices.ts';
import { USUAL_VIEW } from '../shared/href.ts';
import type { ViewShape } from '../shared/page-data.ts';
import type { IncidentFilter } from './store/list-incidents.ts';

/** The longest filter or search text (characters). */
export const MAX_FILTER_LENGTH = 250;

/** Reads the view of the list from a URL. Invalid values are ignored. */
export function readView(search: URLSearchParams): ViewShape {
  const text = (name: string) => (search.get(name) ?? '').trim().slice(0, MAX_FILTER_LENGTH);
  return {
    state: pick(text('state'), [...STATES, 'all'], USUAL_VIEW.state),
    sort: pick(text('sort'), firsts(SORTS), USUAL_VIEW.sort),
    search: text('search'),
    side: pick(text('side'), SIDES, ''),
    kind: pick(text('kind'), KINDS, ''),
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

export function firsts<Value extends string>(
  choices: readonly (readonly [value: Value, ...more: readonly unknown[]])[],
): Value[] {
  return choices.map(([value]) => value);
}

/** Returns the store's filter for a view. @param environment the server's, which is used if the view names none */
export function toFilter(
  { within, ...view }: ViewShape,
  { now, environment }: { readonly now: number; readonly environment: string },
): IncidentFilter & { readonly environment: string } {
  const [, , ms] = WITHIN.find(([value]) => value === within) ?? [];
  return {
    ...view,
    environment: view.environment || environment,
    ...(ms !== undefined && { from: now - ms }),
  };
}
