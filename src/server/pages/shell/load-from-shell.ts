import type { Path } from '../../../shared/wire/wire.ts';
import { VisitorGone } from '../../request/http-error.ts';
import type { Blocked, Hole, KeptShell, Loaded } from '../kept.ts';
import type { PageRequest } from '../page-request.ts';

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

type Data = Record<string, unknown>;

interface Filled {
  /** The data with this visitor's promises in the holes. The data for everyone is unchanged. */
  readonly data: Data;
  /** These promises, by the id of their hole. */
  readonly promises: ReadonlyMap<string, Promise<unknown>>;
}

/** Begins to load the personal values of one visitor. From here on, status and headers cannot change. */
export function fillHoles(data: Data, holes: readonly Hole[], pageRequest: PageRequest): Filled {
  pageRequest.isHeadFixed = true;
  const begun = new Map<PromiseLike<unknown>, Promise<unknown>>();
  const promises = new Map<string, Promise<unknown>>();
  let filled: unknown = data;
  for (const { id, path, place, load } of holes) {
    const promise = begun.get(place) ?? begin(pageRequest, load);
    begun.set(place, promise);
    promises.set(id, promise);
    filled = putAt(filled, path.slice(1), promise);
  }
  return { data: filled as Data, promises }; // a copy of `data`
}

function begin(pageRequest: PageRequest, load: Hole['load']): Promise<unknown> {
  const promise = pageRequest.toArgs().then((args) => load(args as never));
  promise.catch(() => {}); // it can reject before it is rendered
  return promise;
}

/** Copies everything on the path. */
function putAt(value: unknown, [key, ...rest]: Path, promise: Promise<unknown>): unknown {
  if (key === undefined) return promise;
  // `leadsTo` has checked the path. The copy has the key as its own property, even if it is `__proto__`.
  const copy = (Array.isArray(value) ? [...value] : { ...(value as Data) }) as Data;
  copy[key] = putAt(copy[key], rest, promise);
  return copy;
}
