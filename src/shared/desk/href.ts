import type { ViewShape } from './shapes.ts';

/** `/desk/7K3QM2XA`, or `/desk/7K3QM2XA/9F4W0R6B`. */
export function toIncidentHref(digest: string, occurrence?: string): string {
  return occurrence === undefined ? `/desk/${digest}` : `/desk/${digest}/${occurrence}`;
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
