import { type ControlFlowResponse, isControlFlow } from '../routing/control-flow.ts';
import type { PageError } from '../wire/payload.ts';

const STATUS_KINDS = new Set(['not-found', 'forbidden', 'unauthorized', 'public', 'failure', 'redirect']);

/**
 * Whether a value is a `PageError` from the wire or from the funnel. A thrown error never is, even with the same fields:
 * its message must not be shown.
 */
export function isPageError(value: unknown): value is PageError {
  if (typeof value !== 'object' || value === null || value instanceof Error) return false;
  return 'kind' in value && 'status' in value && STATUS_KINDS.has(String(value.kind));
}

/** Returns a control-flow response as the error that is shown. */
function toControlFlowError(response: ControlFlowResponse): PageError {
  const { kind, status } = response;
  if (kind === 'redirect') return { kind, status, location: response.location };
  return kind === 'public' ? { kind, status, message: response.message } : { kind, status };
}

/** A failure without any details for the visitor. */
export const UNKNOWN_FAILURE: PageError = { kind: 'failure', status: 500 };

/** The same, for a failure in the browser. */
const BROWSER_FAILURE: PageError = { ...UNKNOWN_FAILURE, inBrowser: true };

/** The browser's side of the funnel: returns what the visitor can see of any thrown value. */
export function toShownError(error: unknown): PageError {
  if (isPageError(error)) return error;
  if (isControlFlow(error)) return toControlFlowError(error);
  if (error instanceof Error && 'pageError' in error && isPageError(error.pageError)) return error.pageError;
  return BROWSER_FAILURE;
}
