import type { IncomingMessage, ServerResponse } from 'node:http';
import { refuse, sendAllowed } from '../errors/problem.ts';
import { MAX_TARGET_LENGTH } from '../limits.ts';
import { BADLY_ENCODED, decodePercent, readPath, type Spelling, spellPath, UNENCODED } from '../request/paths.ts';
import { requestInfo } from '../request/request-info.ts';
import { sendText } from '../request/send-body.ts';
import { ALL_METHODS, METHODS, type Step } from '../request/step.ts';

/**
 * A target as RFC 9112 has it, without a fragment. Parsers disagree about the rest: some of them end a path at `#`, or
 * trim spaces such as U+00A0, so an app would see a path that no step has seen.
 */
const WRITTEN = /^[\x21-\x22\x24-\x7e]*$/;

interface NormalizeUrlOptions {
  /** True for a path that is Spillway's. On other paths, an existing app can use any method and query. */
  readonly isReserved?: (path: string) => boolean;
  /** Passes paths that have several spellings to the existing app (`rawTarget`), unless one of them is Spillway's. */
  readonly rawPaths?: boolean | undefined;
}

/**
 * The only URL normalizer. Every later step sees one spelling of the path, in `req.url` and in `requestInfo()`, and no
 * step parses the request line again. On Spillway's own paths, the method is known and the query is well-formed.
 */
export function normalizeUrl({ isReserved = () => true, rawPaths = false }: NormalizeUrlOptions = {}): Step {
  return function normalizeUrl(req, res, next) {
    if (req.method === 'TRACE') return refuseMethod(req, res);
    const badFrame = describeBadFrame(req);
    if (badFrame !== undefined) {
      res.setHeader('Connection', 'close');
      refuse(req, res, 400, badFrame);
      return;
    }
    if (countHosts(req) > 1) return refuse(req, res, 400, 'The request names more than one host.');
    if (req.url === '*') {
      if (req.method === 'OPTIONS') sendAllowed(res, ALL_METHODS);
      else refuseMethod(req, res);
      return;
    }
    const target = toOriginForm(req.url ?? '', req.headers.host);
    if (target === undefined) return refuse(req, res, 400, 'The request line names another host than the Host header.');
    enter(req, res, next, target);
  };

  function enter(req: IncomingMessage, res: ServerResponse, next: () => void, target: string): void {
    const queryStart = target.indexOf('?');
    const rawPath = queryStart < 0 ? target : target.slice(0, queryStart);
    const search = queryStart < 0 ? '' : target.slice(queryStart);
    if (rawPath.length > MAX_TARGET_LENGTH) {
      refuse(req, res, 414);
      return;
    }
    if (!WRITTEN.test(target)) {
      refuse(req, res, 400, UNENCODED);
      return;
    }
    const reading = readPathOf(rawPath);
    if ('refusal' in reading) {
      refuse(req, res, 400, reading.refusal);
      return;
    }
    const badSearch = refuseSearch(search);
    if ('elsewhere' in reading) {
      if (badSearch === undefined) redirect(res, reading.elsewhere + search);
      else refuse(req, res, 400, badSearch);
      return;
    }
    const { path } = reading;
    const info = requestInfo(req);
    info.target = path + search;
    if (path !== rawPath) info.rawTarget = target;
    if (isReserved(path)) {
      if (!METHODS.has(req.method ?? '')) {
        refuseMethod(req, res);
        return;
      }
      if (target.length > MAX_TARGET_LENGTH) {
        refuse(req, res, 414);
        return;
      }
      if (badSearch !== undefined) {
        refuse(req, res, 400, badSearch);
        return;
      }
    }
    req.url = info.target;
    next();
  }

  /** Returns the path that steps match: its only spelling, or with `rawPaths` its last reading. */
  function readPathOf(raw: string): Spelling | { readonly elsewhere: string } {
    const spelling = spellPath(raw);
    const asEver = 'path' in spelling && spelling.path !== raw ? { elsewhere: spelling.path } : spelling;
    if (!rawPaths || ('path' in asEver && isReserved(raw))) return asEver;
    const readings = readPath(raw);
    if (readings && !readings.some(isReserved)) return { path: readings.at(-1) ?? raw };
    return 'path' in asEver ? { refusal: 'The address is encoded more than once.' } : asEver;
  }
}

function refuseMethod(req: IncomingMessage, res: ServerResponse): void {
  res.setHeader('Allow', ALL_METHODS);
  refuse(req, res, 405);
}

/** Redirects, because after a silent rewrite the browser would hydrate under another URL than was rendered. */
function redirect(res: ServerResponse, location: string): void {
  res.setHeader('Location', location);
  sendText(res, 308, 'This address has another spelling.');
}

/** Accepts the absolute form if it names the same host as `Host` (RFC 9112, section 3.2). */
function toOriginForm(raw: string, host: string | undefined): string | undefined {
  if (raw.startsWith('/')) return raw;
  const match = /^https?:\/\/([^/?#@\\]+)(\/[^#]*|\?[^#]*)?$/i.exec(raw);
  if (!match?.[1] || match[1].toLowerCase() !== host?.toLowerCase()) return undefined;
  const rest = match[2] ?? '/';
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** A query can contain encoded line breaks, which forms send, but nothing that is not text. */
function refuseSearch(search: string): string | undefined {
  if (!search.includes('%')) return undefined;
  if (/%00/.test(search) || decodePercent(search) === undefined) {
    return BADLY_ENCODED;
  }
  return undefined;
}

/** `req.headers` only has the first `Host`, and a proxy can have used another one. */
function countHosts(req: IncomingMessage): number {
  const { rawHeaders } = req;
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/**
 * Explains why the end of a request is ambiguous. Node has found an end by then, but a proxy can have found another
 * one. What one of them takes for a body, the other then takes for the next request. Node accepts every coding before
 * `chunked` without decoding it, and accepts chunks in HTTP/1.0, which does not have them (RFC 9112, section 6.1). It
 * also reads headers and a body after a request line of HTTP/0.9, which has neither.
 *
 * @returns a sentence for the caller; undefined if nothing is wrong
 */
function describeBadFrame(req: IncomingMessage): string | undefined {
  const { headers } = req;
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || req.httpVersion === '1.0')) {
    return 'The Transfer-Encoding of the request is not supported. Send chunks, or a Content-Length.';
  }
  if (req.httpVersionMajor === 0) return 'The request line names no version of HTTP that this server speaks.';
  // A proxy on the way can take these for the headers with a hyphen.
  const hasTwin = headers.transfer_encoding !== undefined || headers.content_length !== undefined;
  return hasTwin ? 'The request says twice where its body ends.' : undefined;
}
