/**
 * The reason that a request's signal is aborted with when the visitor leaves. It is no error, so it is
 * neither logged nor reported.
 */
export class VisitorGone extends Error {
  constructor() {
    super('The visitor left before the answer was complete.');
    this.name = 'VisitorGone';
  }
}

/**
 * True for the reason itself, and for what Node and `fetch` make of it: an `AbortError` whose cause
 * it is, or that was thrown after the request's work had been ended with it. Never throws.
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
