import type { LoaderArgs, LoaderContext } from './server-page.ts';

type Result = { readonly value: unknown } | { readonly thrown: unknown };
type Found = Map<unknown, Result>;

/**
 * Keyed by the context of a page request, which is the same object for all guards, loaders and actions. After an action,
 * which can have changed what was found, there is a new one.
 */
const foundIn = new WeakMap<LoaderContext, Found>();

/**
 * Returns a function that runs once per request, for all guards, loaders and actions that call it:
 * `const findOrder = oncePerRequest(({ params, context }: LoaderArgs<AppContext>) => …)`. If it throws, every caller
 * fails. After an action it runs again.
 */
export function oncePerRequest<Context extends LoaderContext, Value>(
  look: (args: LoaderArgs<Context>) => Value,
): (args: LoaderArgs<Context>) => Value {
  return function findOnce(args) {
    const found = foundOf(args.context);
    const result = found.get(look) ?? run(() => look(args));
    found.set(look, result);
    if ('thrown' in result) throw result.thrown;
    return result.value as Value; // what `look` returned
  };
}

function run(look: () => unknown): Result {
  try {
    return { value: look() };
  } catch (thrown) {
    return { thrown };
  }
}

function foundOf(context: LoaderContext): Found {
  let found = foundIn.get(context);
  if (!found) {
    found = new Map();
    foundIn.set(context, found);
  }
  return found;
}
