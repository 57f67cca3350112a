import type { EngineContext, LoaderArgs } from './server-page.ts';

type Found = Map<unknown, unknown>;

/** By the context of a page request, which is one object for all guards, loaders and actions. */
const foundIn = new WeakMap<EngineContext, Found>();

/**
 * Makes a function that looks for something once in a request, however many guards, loaders and actions
 * of its routes ask: `const findOrder = oncePerRequest(({ params, context }: LoaderArgs<AppContext>) => …)`.
 * What it throws ends each of them, so nobody gets around it. It looks anew once an action has run.
 */
export function oncePerRequest<Context extends EngineContext, Value>(
  look: (args: LoaderArgs<Context>) => Value,
): (args: LoaderArgs<Context>) => Value {
  return function findOnce(args) {
    const found = foundOf(args.context);
    if (!found.has(look)) found.set(look, look(args));
    return found.get(look) as Value; // put there by the line above
  };
}

/** What was found may be another one by now. */
export function forgetFound(context: EngineContext): void {
  foundIn.delete(context);
}

function foundOf(context: EngineContext): Found {
  let found = foundIn.get(context);
  if (!found) {
    found = new Map();
    foundIn.set(context, found);
  }
  return found;
}
