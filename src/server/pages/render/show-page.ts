import type { ActionResult } from '../../../shared/wire/payload.ts';
import { sendLastResort } from '../../errors/last-resort.ts';
import { drawNonce } from '../../front/content-policy.ts';
import { sendBusy } from '../../front/overload.ts';
import { VisitorGone } from '../../request/http-error.ts';
import { inPhase } from '../../request/request-spans.ts';
import { type LoadedPage, loadGuarded, runGuards, type Stopped } from '../load-page.ts';
import { type PageExchange, sendRedirect, setDocumentHeaders } from '../page-response.ts';
import { encodePage, toStatus } from './encode-page.ts';
import { renderPage } from './render-page.tsx';
import { writeDocument } from './write-document.ts';

/** Runs guards and loaders, then sends the document. */
export async function showPage(exchange: PageExchange): Promise<void> {
  await showGuarded(exchange, await runGuards(exchange));
}

/** Runs the loaders, then sends the document. HEAD stops before the render. @param stopped how a guard stopped it */
export async function showGuarded(exchange: PageExchange, stopped: Stopped | undefined): Promise<void> {
  const loaded = await loadGuarded(exchange, stopped, exchange.pageRequest.method !== 'HEAD');
  if (loaded.kind === 'redirect') sendRedirect(exchange, loaded);
  else if (loaded.kind === 'page') await sendDocument(exchange, loaded);
}

/** Renders the loaded page and streams it. */
export async function sendDocument(exchange: PageExchange, loaded: LoadedPage, action?: ActionResult): Promise<void> {
  const { runtime, pageRequest, response } = exchange;
  if (pageRequest.method === 'HEAD') {
    const { loaded: shown, payload } = encodePage(exchange, loaded, action);
    setDocumentHeaders(exchange, { payload, status: toStatus(shown, action), nonce: drawNonce() });
    response.end();
    pageRequest.abort(new VisitorGone()); // no one waits for deferred values
    return;
  }
  // A form whose action has run, and a page that shows a failure, are answered even if it takes long.
  const isRefusable = pageRequest.method === 'GET' && !action && !loaded.errors;
  const asked = performance.now();
  const slot = runtime.server.limiter?.acquire(pageRequest, isRefusable);
  if (slot && !(await slot)) {
    if (!(pageRequest.endedBy instanceof VisitorGone)) sendBusy(response.req, response, 'renders');
    return;
  }
  const { info } = pageRequest;
  info.timings?.add('queue', asked);
  // Only now, because each garbage collection would copy the text while the page waits.
  const page = encodePage(exchange, loaded, action);
  const status = toStatus(page.loaded, action);
  const nonce = drawNonce();
  const rendered = await inPhase(info, 'render', undefined, () => {
    return renderPage({ runtime, pageRequest, nonce }, page.payload);
  });
  if (rendered.kind === 'gone') return;
  if (rendered.kind === 'redirect') return sendRedirect(exchange, rendered);
  if (rendered.kind === 'last-resort') {
    info.digest = rendered.error.digest;
    return sendLastResort(response.req, response, rendered.error);
  }
  pageRequest.leave();
  info.timings?.write(response);
  try {
    setDocumentHeaders(exchange, { payload: rendered.payload, status: rendered.error?.status ?? status, nonce });
    // Not awaited: the loaded data must not stay in memory until a slow visitor has read the page.
    failIfThrown(exchange, writeDocument(exchange, { page, rendered, target: response, nonce }));
  } catch (error) {
    rendered.render.replace();
    throw error;
  }
}

/**
 * Answers if a step of the product throws while the document is written. A function for itself, because one of
 * `sendDocument` would keep the loaded data.
 */
export function failIfThrown({ pageRequest, response }: PageExchange, written: Promise<void>): void {
  written
    .catch((thrown: unknown) => {
      const disposition = pageRequest.fail(thrown, 'render');
      if (response.headersSent || disposition.kind !== 'error') response.destroy();
      else sendLastResort(response.req, response, disposition.error);
    })
    .catch(() => response.destroy()); // the step throws each time
}
