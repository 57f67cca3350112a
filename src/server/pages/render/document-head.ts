import type { PagePayload } from '../../../shared/wire/payload.ts';
import { WHOLE_KEY } from '../../../shared/wire/protocol.ts';
import { escapeHtml } from '../../errors/escape-html.ts';
import { drawRandom, type Trace } from '../../request/request-info.ts';
import type { PageRequest } from '../page-request.ts';
import { type Answer, digestOf, setPageHeaders, setStatus } from '../page-response.ts';

/** 128 bits, as CSP recommends (https://www.w3.org/TR/CSP3/#security-nonces). */
const NONCE_BYTES = 16;

export function drawNonce(): string {
  return drawRandom(NONCE_BYTES, 'base64');
}

interface DocumentHead {
  readonly payload: PagePayload;
  readonly status: number;
  readonly nonce: string;
}

/** Sets status and headers of a document that is made for one request. */
export function setDocumentHeaders(answer: Answer, { payload, status, nonce }: DocumentHead): void {
  const { services, response } = answer;
  // A page with a nonce must not be reused for another response: no ETag, and never a 304.
  const mayKeep = status < 400 && response.req.method !== 'POST';
  setPageHeaders(answer, mayKeep ? 'private, no-cache' : 'no-store');
  setStatus(answer, status, digestOf(payload.errors));
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.setHeader('Content-Security-Policy', services.policy.forNonce(nonce));
  response.setHeader('Content-Security-Policy-Report-Only', services.policy.reportOnly());
  response.setHeader('X-Accel-Buffering', 'no');
}

/**
 * A script moves deferred content to its place. Browsers without scripts follow this `<noscript>` to the same page with
 * all of its content.
 */
export function askForWhole({ path, search }: Pick<PageRequest, 'path' | 'search'>): string {
  const url = `${path}${search ? `${search}&` : '?'}${WHOLE_KEY}=1`;
  return `<noscript><meta http-equiv="refresh" content="0;url=${escapeHtml(url)}"></noscript>`;
}

/** Lets the browser continue the trace of the request for its document. A cached page has no trace. */
export function toTraceMeta({ traceId, parentId, sampled, spanId = drawRandom(8, 'hex') }: Trace): string {
  // Nothing is recorded here, so a trace that begins here has no sampling decision yet.
  const [decision, entry] = parentId === undefined ? ['', ''] : [`-${sampled ? 1 : 0}`, `,sentry-sampled=${sampled}`];
  return (
    `<meta name="sentry-trace" content="${traceId}-${spanId}${decision}"/>` +
    `<meta name="baggage" content="sentry-trace_id=${traceId}${entry}"/>`
  );
}
