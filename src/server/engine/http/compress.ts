import { constants } from 'node:zlib';
import compression from 'compression';
import type { RequestHandler, Response } from 'express';
import { WIRE_TYPE } from '../../../shared/engine/protocol.ts';

/** Node's own default, 11, takes 200 ms for a page. */
const BROTLI_QUALITY = 4;

/** Compresses what is made for one request. `response.flush()` sends what it holds back, so that streams stay streams. */
export function compress(): RequestHandler {
  return compression({
    brotli: { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } },
    filter(request, response: Response) {
      // It has no type and no body, but says by which headers its answer was chosen (RFC 9110, section 15.4.5).
      if (response.statusCode === 304) response.vary('Accept-Encoding');
      // A strong validator names these bytes and no others: who sent it has chosen its coding already.
      if (String(response.getHeader('ETag') ?? '').startsWith('"')) return false;
      // Page data is text of a type of its own, which the library's list does not have.
      const takes = response.getHeader('Content-Type') === WIRE_TYPE || compression.filter(request, response);
      // How long the answer to GET would be is known once it is compressed (RFC 9110, section 8.6).
      if (takes && request.method === 'HEAD') response.removeHeader('Content-Length');
      return takes;
    },
  });
}
