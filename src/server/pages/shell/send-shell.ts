import type { ServerResponse } from 'node:http';
import { HOLES_HEADER, WIRE_TYPE } from '../../../shared/wire/protocol.ts';
import { encodeHoles } from '../../../shared/wire/wire.ts';
import { VisitorGone } from '../../request/http-error.ts';
import { requestInfo } from '../../request/request-info.ts';
import { isCrawler } from '../crawler.ts';
import type { KeptShell, ShellPage } from '../kept.ts';
import type { PageRequest } from '../page-request.ts';
import { type Answer, type PageExchange, setPageHeaders } from '../page-response.ts';
import { isKnown, KEEP_AND_ASK, sendLines } from '../render/data-lines.ts';
import { askForWhole, drawNonce, setDocumentHeaders, toTraceMeta } from '../render/document-head.ts';
import { toEncodeOptions } from '../render/encode-page.ts';
import { PageSink } from '../render/page-sink.ts';
import { Render } from '../render/render-page.tsx';
import { toShellKey } from './kept-shell.ts';
import { fillHoles } from './load-from-shell.ts';

/** A shell whose holes are still to be sent. */
interface Begun {
  readonly shell: KeptShell;
  readonly nonce: string;
}

const begunFor = new WeakMap<ServerResponse, Begun>();

/**
 * Sends the shell of a document if it is in memory and no guard has to be asked. Express, the context and the holes need
 * more time than all of this. `sendShell` sends the rest.
 */
export function beginShell({ services, response }: Answer): void {
  const { req } = response;
  const info = requestInfo(req);
  if (req.method !== 'GET' || info.showsTimings || isCrawler(req.headers['user-agent'])) return;
  const shell = services.shells.getFresh(toShellKey(services, info.target));
  if (!shell?.page?.parts || shell.hasGuards) return;
  const search = info.target.slice(info.path.length);
  const nonce = writeShell({ services, response }, shell.page, { path: info.path, search });
  begunFor.set(response, { shell, nonce });
}

/** Returns the shell that `beginShell` has sent. */
export function findBegun(response: ServerResponse): KeptShell | undefined {
  return begunFor.get(response)?.shell;
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
  if (postponed !== undefined) response.write(askForWhole(url));
  return nonce;
}

/**
 * Sends the shell of a document, then renders and streams its holes. The guards have passed.
 *
 * @returns false if this request needs the page in one piece, or it has no shell
 */
export async function sendShell(exchange: PageExchange): Promise<boolean> {
  const { services, pageRequest, response } = exchange;
  const shell = await pageRequest.findShell?.();
  if (!shell?.page?.parts || pageRequest.whole) return false;
  if (pageRequest.endedBy instanceof VisitorGone) return true;
  const { page, holes } = shell;
  const { payload, postponed } = page;
  if (pageRequest.method === 'HEAD') {
    setDocumentHeaders(exchange, { payload, status: 200, nonce: drawNonce() });
    response.end();
    return true;
  }
  if (pageRequest.info.showsTimings) pageRequest.info.timings?.write(response);
  const nonce = begunFor.get(response)?.nonce ?? writeShell(exchange, page, pageRequest);
  pageRequest.leave();

  const { data, promises } = fillHoles(payload.data, holes, pageRequest);
  const late = holes.length > 0 ? encodeHoles(promises, toEncodeOptions(exchange)) : undefined;
  const parts = { target: response, lead: '', tail: [], late };
  const slot = services.limiter?.acquire(pageRequest, false);
  if (slot && !(await slot)) return true;
  if (postponed === undefined) new PageSink({ ...parts, onEnd() {} }).end();
  // Not awaited: see `sendDocument`.
  else void new Render({ services, pageRequest, payload: { ...payload, data }, nonce, postponed }).send(parts);
  return true;
}

/**
 * Sends the data that everyone shares, or the holes if the request asks for them.
 *
 * @returns false if the page failed
 */
export async function sendShellData(exchange: PageExchange): Promise<boolean> {
  const { pageRequest, response } = exchange;
  const shell = await pageRequest.findShell?.();
  if (!shell?.page || shell.failed || pageRequest.endedBy) return false;
  const { page, holes } = shell;
  if (pageRequest.wantsHoles && pageRequest.method === 'GET') {
    setPageHeaders(exchange, 'no-store');
    response.setHeader(HOLES_HEADER, '1');
    const { promises } = fillHoles(page.payload.data, holes, pageRequest);
    await sendLines(exchange, { late: encodeHoles(promises, toEncodeOptions(exchange)) });
    return true;
  }
  setPageHeaders(exchange, KEEP_AND_ASK);
  response.setHeader('ETag', page.etag);
  response.setHeader('Content-Type', WIRE_TYPE);
  if (pageRequest.info.showsTimings) pageRequest.info.timings?.write(response);
  if (isKnown(response, page.etag)) response.statusCode = 304;
  const isEmpty = response.statusCode === 304 || pageRequest.method === 'HEAD';
  response.end(isEmpty ? undefined : `${page.data}\n`);
  return true;
}
