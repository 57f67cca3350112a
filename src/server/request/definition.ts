/** Where in the product something ran, for errors whose stack does not say so. */
export interface Definition {
  /** Made in the product's call of `definePage()`, `implement()`, `resource()` or `report()`, or of a route of Express. */
  readonly call: Error;
  /** The function in what was defined: `loader`, `actions.send`, or the name of an operation. */
  readonly part?: string;
}

/** Remembers who called a function. @param called the function itself */
export function captureCall(called: (...args: never) => unknown): Error {
  const call = new Error();
  Error.captureStackTrace(call, called);
  return call;
}
