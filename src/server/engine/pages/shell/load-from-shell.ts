import { VisitorGone } from '../../errors/visitor-gone.ts';
import type { KeptShell } from '../kept.ts';
import type { Blocked, Loaded } from '../loaded.ts';
import type { PageRequest } from '../page-request.ts';
import { fillHoles } from './fill-holes.ts';

/**
 * Returns the data of the shell with the personal values of one visitor, for a page that is rendered for this request.
 *
 * @param reached the routes outside of the one that is blocked
 */
export function loadFromShell(
  pageRequest: PageRequest,
  { loaded, holes }: KeptShell,
  { reached, blocked }: { readonly reached: readonly string[]; readonly blocked: Blocked | undefined },
): Loaded {
  if (pageRequest.endedBy instanceof VisitorGone) return { kind: 'gone' };
  if (loaded.kind !== 'page') return loaded;
  const { data, errors } = loaded;
  const shown = Object.fromEntries(reached.filter((id) => id in data).map((id) => [id, data[id]]));
  const own = holes.filter(({ path }) => String(path[1]) in shown);
  const filled = { kind: 'page' as const, data: fillHoles(shown, own, pageRequest).data };
  if (errors && reached.some((id) => errors[id])) return { ...filled, status: loaded.status, errors };
  if (!blocked) return { ...filled, status: loaded.status, ...(errors && { errors }) };
  return { ...filled, status: blocked.error.status, errors: { [blocked.routeId]: blocked.error } };
}
