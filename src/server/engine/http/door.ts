import type { IncomingMessage, ServerResponse } from 'node:http';
import { MAX_TARGET_LENGTH } from '../../limits.ts';
import { describeBadFrame } from './frame.ts';
import { decodeStrictly, spellPath } from './path-spelling.ts';
import { refuse, sendAllowed, sendText } from './refuse.ts';
import { requestInfo } from './request-info.ts';
import type { Step } from './step.ts';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const ALLOW = [...METHODS].join(', ');

/**
 * The one normaliser. Everything behind it sees a known method and one spelling of the path, in
 * `req.url` and in `requestInfo()`; nothing behind it parses the request line again.
 */
export function door(): Step {
  return function door(req, res, next) {
    if (!METHODS.has(req.method ?? '')) {
      res.setHeader('Allow', ALLOW);
      refuse(req, res, 405);
      return;
    }
    const badFrame = describeBadFrame(req);
    if (badFrame !== undefined) {
      res.setHeader('Connection', 'close');
      refuse(req, res, 400, badFrame);
      return;
    }
    if (countHosts(req) > 1) {
      refuse(req, res, 400, 'The request names more than one host.');
      return;
    }
    const raw = req.url ?? '';
    if (raw === '*') {
      answerAsterisk(req, res);
      return;
    }
    if (raw.length > MAX_TARGET_LENGTH) {
      refuse(req, res, 414);
      return;
    }
    const target = toOriginForm(raw, req.headers.host);
    if (target === undefined) {
      refuse(req, res, 400, 'The request names an address that is not one of this host.');
      return;
    }
    enter(req, res, next, target);
  };
}

function enter(req: IncomingMessage, res: ServerResponse, next: () => void, target: string): void {
  const queryStart = target.indexOf('?');
  const rawPath = queryStart < 0 ? target : target.slice(0, queryStart);
  const search = queryStart < 0 ? '' : target.slice(queryStart);
  const spelling = spellPath(rawPath);
  const refusal = 'refusal' in spelling ? spelling.refusal : refuseSearch(search);
  if (refusal !== undefined || 'refusal' in spelling) {
    refuse(req, res, 400, refusal);
    return;
  }
  const canonical = spelling.path + search;
  requestInfo(req).target = canonical;
  if (spelling.path !== rawPath) {
    // Not rewritten in silence: the browser would hydrate under another address than was rendered.
    res.setHeader('Location', canonical);
    sendText(res, 308, 'This address has another spelling.');
    return;
  }
  req.url = canonical;
  next();
}

function answerAsterisk(req: IncomingMessage, res: ServerResponse): void {
  if (req.method === 'OPTIONS') {
    sendAllowed(res, ALLOW);
    return;
  }
  res.setHeader('Allow', ALLOW);
  refuse(req, res, 405);
}

/** RFC 9112 section 3.2: the absolute form is taken where it names the same host as `Host` does. */
function toOriginForm(raw: string, host: string | undefined): string | undefined {
  if (raw.startsWith('/')) return raw;
  const match = /^https?:\/\/([^/?#@\\]+)(\/[^#]*|\?[^#]*)?$/i.exec(raw);
  if (!match?.[1] || match[1].toLowerCase() !== host?.toLowerCase()) return undefined;
  const rest = match[2] ?? '/';
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** A search may hold encoded line breaks (a form sends them), but nothing that is no text. */
function refuseSearch(search: string): string | undefined {
  if (search === '' || /^[\x21-\x22\x24\x26-\x7e]*$/.test(search)) return undefined;
  if (/[^\x21-\x22\x24-\x7e]/.test(search)) return 'The address has a character that must be percent-encoded.';
  if (/%00/.test(search) || decodeStrictly(search) === undefined) {
    return 'The address has a malformed or forbidden percent-encoding.';
  }
  return undefined;
}

/** `req.headers` keeps the first `Host` alone, and a proxy may have gone by another one. */
function countHosts(req: IncomingMessage): number {
  const { rawHeaders } = req;
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}
