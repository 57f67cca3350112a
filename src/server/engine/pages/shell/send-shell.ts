import { HOLES_HEADER, WIRE_TYPE } from '../../../../shared/engine/wire/protocol.ts';
import { encodeHoles } from '../../../../shared/engine/wire/wire.ts';
import { type PageExchange, setPageHeaders } from '../page-response.ts';
import { askForWhole, drawNonce, setDocumentHeaders, toTraceMeta } from '../render/document-head.ts';
import { toEncodeOptions } from '../render/encode-page.ts';
import { isKnown, KEEP_AND_ASK, sendLines } from '../render/page-data.ts';
import { PageSink } from '../render/page-sink.ts';
import { Render } from '../render/render-page.tsx';
import { fillHoles } from './fill-holes.ts';
import type { ShellDocument } from './kept-shell.ts';

/**
 * Sends the shell of a document, then renders and streams its holes. The guards have passed.
 *
 * @returns false if this request needs the page in one piece, or it has no shell
 */
export async function sendShell(exchange: PageExchange): Promise<boolean> {
  const { services, pageRequest, response } = exchange;
  const shell = await pageRequest.findShell?.();
  if (!shell?.page?.document || pageRequest.whole || pageRequest.endedBy) return false;
  const { holes } = shell;
  const { document, payload } = shell.page;
  const nonce = drawNonce();
  pageRequest.timings?.write(response);
  setDocumentHeaders(exchange, { payload, status: 200, nonce });
  if (pageRequest.method === 'HEAD') {
    response.end();
    return true;
  }
  const { postponed } = document;
  const refresh = postponed === undefined ? '' : askForWhole(pageRequest);
  response.write(toBytes(document, { nonce, trace: toTraceMeta(pageRequest.info.trace), refresh }));
  pageRequest.leave();

  const { data, promises } = fillHoles(payload.data, holes, pageRequest);
  const late = holes.length > 0 ? encodeHoles(promises, toEncodeOptions(exchange)) : undefined;
  const parts = { target: response, lead: '', tail: '', late };
  const slot = services.limiter?.acquire(pageRequest, false);
  if (slot && !(await slot)) return true;
  if (postponed === undefined) new PageSink({ ...parts, onEnd() {} }).end();
  // Not awaited: see `sendDocument`.
  else void new Render({ services, pageRequest, payload: { ...payload, data }, nonce, postponed }).send(parts);
  return true;
}

function toBytes({ parts }: ShellDocument, own: { nonce: string; trace: string; refresh: string }): Buffer {
  const nonce = Buffer.from(own.nonce);
  const trace = Buffer.from(own.trace);
  const bytes = parts.map((part) => (part === 'nonce' ? nonce : part === 'trace' ? trace : part));
  return Buffer.concat([...bytes, Buffer.from(own.refresh)]);
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
  pageRequest.timings?.write(response);
  if (isKnown(response, page.etag)) response.statusCode = 304;
  const isEmpty = response.statusCode === 304 || pageRequest.method === 'HEAD';
  response.end(isEmpty ? undefined : `${page.data}\n`);
  return true;
}
