import { encodeHoles } from '../../../shared/wire/encode.ts';
import { HOLES_HEADER, NDJSON_TYPE } from '../../../shared/wire/protocol.ts';
import { drawNonce } from '../../front/content-policy.ts';
import { VisitorGone } from '../../request/http-error.ts';
import { requestInfo } from '../../request/request-info.ts';
import { runGuards } from '../load-page.ts';
import type { ShellPage } from '../page-cache.ts';
import type { PageRequest } from '../page-request.ts';
import {
  type Answer,
  isKnown,
  type PageExchange,
  PRIVATE_CACHING,
  sendEncoded,
  setDocumentHeaders,
  setPageHeaders,
} from '../page-response.ts';
import { toEncodeOptions } from '../render/encode-page.ts';
import { sendGuardedData } from '../render/page-data.ts';
import { PageSink } from '../render/page-sink.ts';
import { Render } from '../render/render-page.tsx';
import { failIfThrown, showGuarded } from '../render/show-page.ts';
import { askForFull, toTraceMeta } from '../render/write-document.ts';
import { isCrawler } from '../visitor-page.ts';
import { toShellKey } from './cached-shell.ts';
import type { BegunShell, VisitorShell } from './visitor-shell.ts';

/**
 * Sends the shell of a document if it is in memory and no guard has to be asked. Its context and its holes need more time
 * than all of this. `showShell` sends the rest.
 */
export function beginShell({ runtime, response }: Answer): BegunShell | undefined {
  const { req } = response;
  const info = requestInfo(req);
  if (req.method !== 'GET' || info.showsTimings || isCrawler(req.headers['user-agent'])) return undefined;
  const shell = runtime.caches.shells.getFresh(toShellKey(runtime, info.target));
  if (!shell?.page?.parts || shell.hasGuards) return undefined;
  const search = info.target.slice(info.path.length);
  const nonce = writeShell({ runtime, response }, shell.page, { path: info.path, search });
  return { shell, nonce };
}

/** @returns the nonce of this response */
function writeShell(
  answer: Answer,
  { payload, parts = [], marks, postponed }: ShellPage,
  url: Pick<PageRequest, 'path' | 'search'>,
): string {
  const { response } = answer;
  const nonce = drawNonce();
  setDocumentHeaders(answer, { payload, status: 200, nonce });
  const trace = toTraceMeta(requestInfo(response.req).trace);
  const fill = (part: string | Buffer) =>
    typeof part === 'string' ? part.replaceAll(marks.nonce, nonce).replace(marks.trace, trace) : part;
  const [first = '', ...rest] = parts;
  // By itself, Node would wait until this tick is over, and then React would already have begun to render.
  response.socket?.cork();
  response.write(fill(first));
  response.socket?.uncork();
  for (const part of rest) response.write(fill(part));
  if (postponed !== undefined) response.write(askForFull(url));
  return nonce;
}

/** Runs the guards, then sends the document of a page with a shell. */
export async function showShell(exchange: PageExchange, shell: VisitorShell): Promise<void> {
  const stopped = await runGuards(exchange);
  if (stopped || !(await sendShell(exchange, shell))) await showGuarded(exchange, stopped);
}

/** The same for its data. */
export async function sendShellData(exchange: PageExchange, shell: VisitorShell): Promise<void> {
  const stopped = await runGuards(exchange);
  if (stopped || !(await sendSharedData(exchange, shell))) await sendGuardedData(exchange, stopped);
}

/**
 * Sends the shell of a document, then renders and streams its holes. The guards have passed.
 *
 * @returns false if this request needs the page in one piece, or it has no shell
 */
async function sendShell(exchange: PageExchange, shell: VisitorShell): Promise<boolean> {
  const { runtime, pageRequest, response } = exchange;
  const { page, holes } = await shell.find();
  if (!page?.parts || pageRequest.isFull) return false;
  if (pageRequest.endedBy instanceof VisitorGone) return true;
  const { payload, postponed } = page;
  if (pageRequest.method === 'HEAD') {
    setDocumentHeaders(exchange, { payload, status: 200, nonce: drawNonce() });
    response.end();
    return true;
  }
  pageRequest.info.timings?.write(response);
  const nonce = shell.sentNonce ?? writeShell(exchange, page, pageRequest);
  pageRequest.leave();

  const { data, promises } = shell.fill(payload.data, holes);
  const deferred = holes.length > 0 ? encodeHoles(promises, toEncodeOptions(pageRequest)) : undefined;
  const texts = { lead: '', tail: [], deferred, isResumed: true };
  const slot = runtime.server.limiter?.acquire(pageRequest, false);
  if (slot && !(await slot)) return true;
  if (postponed === undefined) new PageSink(response, texts, { onFailed: () => response.destroy() }).end();
  // Not awaited: see `sendDocument`.
  else {
    const render = new Render({ runtime, pageRequest, nonce, postponed }, { ...payload, data });
    failIfThrown(exchange, render.send(response, texts));
  }
  return true;
}

/**
 * Sends the data that everyone shares, or the holes if the request asks for them.
 *
 * @returns false if the page failed
 */
async function sendSharedData(exchange: PageExchange, shell: VisitorShell): Promise<boolean> {
  const { pageRequest, response } = exchange;
  const { page, holes, failed } = await shell.find();
  if (!page || failed || pageRequest.endedBy) return false;
  if (shell.wantsHoles && pageRequest.method === 'GET') {
    setPageHeaders(exchange, 'no-store');
    response.setHeader(HOLES_HEADER, page.etag);
    const { promises } = shell.fill(page.payload.data, holes);
    await sendEncoded(exchange, { deferred: encodeHoles(promises, toEncodeOptions(pageRequest)) });
    return true;
  }
  setPageHeaders(exchange, PRIVATE_CACHING);
  response.setHeader('ETag', page.etag);
  response.setHeader('Content-Type', NDJSON_TYPE);
  pageRequest.info.timings?.write(response);
  if (isKnown(response, page.etag)) response.statusCode = 304;
  const isEmpty = response.statusCode === 304 || pageRequest.method === 'HEAD';
  response.end(isEmpty ? undefined : `${page.data}\n`);
  return true;
}
