import type { LoaderArgs, LoaderContext } from './server-page.ts';

/** Makes the value of one visitor, from their `LoaderArgs`. */
type LoadPersonal = (args: never) => unknown;

/** A value that `personal()` marked. */
export interface PersonalValue {
  readonly load: LoadPersonal;
}

type TakePersonal = (load: LoadPersonal) => Promise<unknown>;

/** For loaders that run for everyone, keyed by their context. */
const takers = new WeakMap<object, TakePersonal>();

/**
 * Marks a value of a loader as personal: `cart: personal(args, ({ context }) => findCart(context.user))`. A page with
 * `mode: 'shell'` shows it in an `<Await>`, and calls `load` for each request, with the visitor's own arguments. On a
 * dynamic page, it is a deferred value like any other.
 *
 * @param args the arguments of the loader
 * @throws Error on a static page
 */
export function personal<Context extends LoaderContext, Value>(
  args: LoaderArgs<Context>,
  load: (args: LoaderArgs<Context>) => Value | Promise<Value>,
): Promise<Value> {
  const take = takers.get(args.context);
  // The place of its result is never read: each visitor gets a promise of `load` there.
  return take ? (take(load) as Promise<Value>) : toPromise(load, args);
}

async function toPromise<Args, Value>(load: (args: Args) => Value | Promise<Value>, args: Args): Promise<Value> {
  return load(args);
}

/** Refuses personal values in loaders with this context. */
export function refusePersonal(context: LoaderContext): void {
  takers.set(context, () => {
    throw new Error(
      "A static page called personal(). It is rendered once for everyone, so it has no visitor. Give the route mode: 'shell', which renders personal values for each request.",
    );
  });
}

/**
 * Collects the personal values of loaders with this context, and does not load them.
 *
 * @returns the values, by the promise that `personal()` returned. It never settles, so it keeps everything that waits for it
 * in memory
 */
export function collectPersonal(context: LoaderContext): Map<PromiseLike<unknown>, PersonalValue> {
  const collected = new Map<PromiseLike<unknown>, PersonalValue>();
  takers.set(context, (load) => {
    const place = new Promise<never>(() => {});
    collected.set(place, { load });
    return place;
  });
  return collected;
}
