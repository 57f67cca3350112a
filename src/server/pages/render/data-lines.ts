import type { Response as ExpressResponse } from 'express';
import { WIRE_TYPE } from '../../../shared/wire/protocol.ts';
import type { Encoded } from '../../../shared/wire/wire.ts';
import { VisitorGone } from '../../request/http-error.ts';
import { matchesEtag } from '../../request/request-headers.ts';
import type { PageExchange } from '../page-response.ts';

/** Caching of data without deferred values: only in the browser, and only for conditional requests. */
export const KEEP_AND_ASK = 'private, no-cache';

/** Whether the browser has the data of this tag. */
export function isKnown({ req }: ExpressResponse, etag: string): boolean {
  return matchesEtag(req.headers['if-none-match'], etag);
}

/** @param encoded without a head, only lines of deferred values are sent */
export async function sendLines(
  { pageRequest, response }: PageExchange,
  { head, late }: Pick<Encoded, 'late'> & Partial<Encoded>,
): Promise<void> {
  response.setHeader('Content-Type', WIRE_TYPE);
  if (pageRequest.method === 'HEAD') {
    response.end();
    if (late) pageRequest.abort(new VisitorGone()); // no one waits for deferred values
    return;
  }
  if (!late) {
    response.end(`${head}\n`);
    return;
  }
  pageRequest.leave();
  response.setHeader('X-Accel-Buffering', 'no');
  const drained = watchDrain(response);
  if (head === undefined) response.flushHeaders();
  else response.write(`${head}\n`);
  for await (const line of late) {
    if (response.destroyed) return;
    if (!response.write(`${line}\n`)) await drained();
  }
  response.end();
}

/** Listens once for all lines: the compression step passes `on('drain')` to its stream, but has no `off()`. */
function watchDrain(response: ExpressResponse): () => Promise<void> {
  let go: (() => void) | undefined;
  for (const event of ['drain', 'close']) response.on(event, () => go?.());
  return () =>
    new Promise((resolve) => {
      go = resolve;
    });
}
