import type { Request } from 'express';
import { toSpelling } from './path-spelling.ts';

/**
 * Whether a request is for this path or one below it, as an Express app matches it: case does not matter, nor does a
 * slash at the end. For steps that guard routes or an existing app: `isBelow(request, '/admin')` is true for
 * `/Admin/users` and false for `/administrator`.
 *
 * @param path as it is read, such as `/größe`
 */
export function isBelow({ baseUrl, path: own }: Request, path: `/${string}`): boolean {
  return toComparable(baseUrl + own).startsWith(toComparable(toSpelling(path)));
}

function toComparable(path: string): string {
  return (path.endsWith('/') ? path : `${path}/`).toLowerCase();
}
