import type { ViewShape } from './shapes.ts';

/** `/desk/7K3QM2XA`, or `/desk/7K3QM2XA/9F4W0R6B`. @param environment empty for that of this server */
export function toIncidentHref(digest: string, occurrence: string | undefined, environment: string): string {
  const path = occurrence === undefined ? `/desk/${digest}` : `/desk/${digest}/${occurrence}`;
  return environment === '' ? path : `${path}?${new URLSearchParams({ environment })}`;
}

/** The list as somebody sees it, so that it can be sent to a colleague: what is as usual is left out. */
export function toListHref(view: ViewShape, change: Partial<ViewShape> & { after?: string | undefined } = {}): string {
  const { after, ...changed } = change;
  const entries = Object.entries({ ...view, ...changed }).filter(
    ([name, value]) => value !== '' && value !== USUAL_VIEW[name as keyof ViewShape],
  );
  const search = new URLSearchParams([...entries, ...(after ? [['after', after]] : [])] as [string, string][]);
  return search.size > 0 ? `/desk?${search}` : '/desk';
}

/** What the list shows where the address says nothing. */
export const USUAL_VIEW: ViewShape = {
  state: 'open',
  sort: 'last',
  span: '24h',
  search: '',
  side: '',
  kind: '',
  route: '',
  release: '',
  environment: '',
  assignee: '',
  within: '',
};

/** The parts of a view that filter nothing: they stay when its filters are removed. */
export function pickKept({ state, sort, span, environment }: ViewShape): Partial<ViewShape> {
  return { state, sort, span, environment };
}
