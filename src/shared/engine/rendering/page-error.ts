import { type ControlFlowResponse, isControlFlow } from '../routing/control-flow.ts';
import type { PageError } from '../wire/payload.ts';

const STATUS_KINDS = new Set(['not-found', 'forbidden', 'unauthorized', 'public', 'failure', 'redirect']);

/**
 * Whether a value is a `PageError` as it came from the wire or from the funnel. Something thrown is
 * none, whatever fields it has: its message must not be shown.
 */
export function isPageError(value: unknown): value is PageError {
  if (typeof value !== 'object' || value === null || value instanceof Error) return false;
  return 'kind' in value && 'status' in value && STATUS_KINDS.has(String(value.kind));
}

/** A control-flow response as it is shown. */
export function toControlFlowError(response: ControlFlowResponse): PageError {
  const { kind, status } = response;
  if (kind === 'redirect') return { kind, status, location: response.location };
  return kind === 'public' ? { kind, status, message: response.message } : { kind, status };
}

/** A failure of which the visitor learns nothing but that it happened. */
export const UNKNOWN_FAILURE: PageError = { kind: 'failure', status: 500 };

/** The same, where it is the browser's own. */
export const BROWSER_FAILURE: PageError = { ...UNKNOWN_FAILURE, inBrowser: true };

/** The browser's side of the funnel: what of an error may be shown, whichever way it came. */
export function toShownError(error: unknown): PageError {
  if (isPageError(error)) return error;
  if (isControlFlow(error)) return toControlFlowError(error);
  if (error instanceof Error && 'pageError' in error && isPageError(error.pageError)) return error.pageError;
  return BROWSER_FAILURE;
}
