/** A function of the product that Spillway calls, such as a loader. */
export interface Definition {
  /** Made at the call that defined it, so that its stack says where. */
  readonly call: Error;
  /** `loader`, `actions.send`, or the name of an operation. */
  readonly part: string;
}

/** Remembers who called a function, for definitions. @param define `definePage` or `implement` */
export function captureCall(define: (...args: never) => unknown): Error {
  const call = new Error();
  Error.captureStackTrace(call, define);
  return call;
}
