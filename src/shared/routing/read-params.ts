import type { DataRouteMatch, Params } from 'react-router';

/**
 * Returns the parameters of a match, each decoded once. React Router decodes a path, then replaces each `%2F` in a
 * parameter by a slash. So `%252F` would become a slash that the URL normalizer has not seen.
 *
 * @param match innermost of a page, from React Router
 * @param pathname encoded, without `%2F`, which the URL normalizer refuses
 */
export function readParams({ params, pathnameBase }: DataRouteMatch, pathname: string): Params {
  const read = Object.entries(params).map(([name, value]) => {
    if (!value?.includes('/')) return [name, value];
    return [name, name === '*' ? readRest(pathname, pathnameBase) : value.replaceAll('/', '%2F')];
  });
  return Object.fromEntries(read) as Params;
}

/** The segments after those of `base`. */
function readRest(pathname: string, base: string): string {
  const rest = pathname.split('/').slice(base === '/' ? 1 : base.split('/').length);
  return rest.map(decodeSegment).join('/');
}

/** Like React Router, keeps what it cannot decode: the browser matches a URL before the server has refused it. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
