import type { ViewShape } from './page-data.ts';

/** The path prefix of all pages of the desk and their data. */
export const DESK_PATH = '/desk';
/** Where its API is mounted. */
export const DESK_API_PATH = '/api/desk';

/** `/desk/7K3QM2XA`, or `/desk/7K3QM2XA/9F4W0R6B`. @param own this server's environment, which URLs do not name */
export function toIncidentHref(
  digest: string,
  occurrence: string | undefined,
  environment: string,
  own: string = '',
): string {
  const path = occurrence === undefined ? `${DESK_PATH}/${digest}` : `${DESK_PATH}/${digest}/${occurrence}`;
  return environment === own ? path : `${path}?${new URLSearchParams({ environment })}`;
}

/** Returns a link to the list with this view, for example to send to a colleague. Default values are left out. */
export function toListHref(view: ViewShape, change: Partial<ViewShape> & { after?: string | undefined } = {}): string {
  const { after, ...changed } = change;
  const entries = Object.entries({ ...view, ...changed }).filter(
    ([name, value]) => value !== '' && value !== USUAL_VIEW[name as keyof ViewShape],
  );
  const search = new URLSearchParams([...entries, ...(after ? [['after', after]] : [])] as [string, string][]);
  return search.size > 0 ? `${DESK_PATH}?${search}` : DESK_PATH;
}

/** Clears the filters of a view. */
export const NO_FILTERS = {
  search: '',
  side: '',
  kind: '',
  route: '',
  release: '',
  within: '',
} as const satisfies Partial<ViewShape>;

/** The default view of the list. */
export const USUAL_VIEW: ViewShape = { state: 'open', sort: 'last', environment: '', ...NO_FILTERS };

export function isFiltered(view: ViewShape): boolean {
  return Object.keys(NO_FILTERS).some((name) => view[name as keyof ViewShape] !== '');
}
