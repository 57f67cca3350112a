import type { IncomingMessage } from 'node:http';

/**
 * Why nobody can be sure where a request ends: Node has found its end by then, but a proxy may have
 * found another one, and what one of the two takes for a body the other takes for the next request.
 * Node lets every coding in front of `chunked` through, undoes none of them, and takes chunks from
 * HTTP/1.0, which has none (RFC 9112, section 6.1).
 *
 * @returns a sentence for who asked; undefined where nothing is wrong
 */
export function describeBadFrame(req: IncomingMessage): string | undefined {
  const { headers } = req;
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || req.httpVersion === '1.0')) {
    return 'The request has a Transfer-Encoding that is not taken here. Send chunks, or a Content-Length.';
  }
  // Some proxy on the way may take them for those with a hyphen.
  const hasTwin = headers.transfer_encoding !== undefined || headers.content_length !== undefined;
  return hasTwin ? 'The request says twice where it ends.' : undefined;
}
