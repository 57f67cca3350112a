/** The reason with which a request's signal is aborted when the visitor leaves. It is neither logged nor reported. */
export class VisitorGone extends Error {
  constructor() {
    super('The visitor left before the answer was complete.');
    this.name = 'VisitorGone';
  }
}

/**
 * True for the reason itself and for the `AbortError` that Node and `fetch` make of it: one with this cause, or one
 * that was thrown after the request's work had been ended with it. Never throws.
 */
export function isVisitorGone(error: unknown, endedBy?: unknown): boolean {
  try {
    if (error instanceof VisitorGone) return true;
    if (typeof error !== 'object' || error === null || !('name' in error) || error.name !== 'AbortError') return false;
    return ('cause' in error && error.cause instanceof VisitorGone) || endedBy instanceof VisitorGone;
  } catch {
    return false; // a hostile getter or Proxy
  }
}
