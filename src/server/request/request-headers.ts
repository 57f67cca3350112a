import type { IncomingMessage, ServerResponse } from 'node:http';
import { remember } from './bounded-map.ts';

/**
 * Removes a header from a request.
 *
 * @param name in lower case
 */
export function removeHeader(req: IncomingMessage, name: string): void {
  if (req.headers[name] !== undefined) rewriteHeader(req, name, () => undefined);
}

/**
 * Removes cookies from a request, and leaves the others unchanged, byte for byte.
 *
 * @returns the first value of each of these names
 */
export function takeCookies(req: IncomingMessage, names: readonly string[]): ReadonlyMap<string, string> {
  const { cookie } = req.headers;
  const taken = new Map<string, string>();
  if (!cookie || !names.some((name) => cookie.includes(name))) return taken;
  const isTaken = (pair: string) => names.includes(toName(pair));
  for (const pair of cookie.split(';').filter(isTaken)) {
    const name = toName(pair);
    if (!taken.has(name)) taken.set(name, pair.slice(pair.indexOf('=') + 1).trim());
  }
  if (taken.size === 0) return taken;
  rewriteHeader(req, 'cookie', (value) => {
    const kept = value.split(';').filter((pair) => !isTaken(pair));
    return kept.length > 0 ? kept.join(';').trimStart() : undefined;
  });
  return taken;
}

/**
 * Changes the cookies of a request. `RequestInfo` keeps the headers that arrived, whose secrets a message can repeat.
 *
 * @param names of the cookies to remove
 * @param added pairs such as `session=abc`
 */
export function replaceCookies(req: IncomingMessage, names: readonly string[], added: readonly string[]): void {
  const kept = (req.headers.cookie ?? '').split(/; */).filter((pair) => pair !== '' && !names.includes(toName(pair)));
  const cookie = [...kept, ...added].join('; ');
  req.headers = { ...req.headers };
  removeHeader(req, 'cookie');
  if (cookie === '') return;
  req.headers.cookie = cookie;
  req.headersDistinct.cookie = [cookie];
  req.rawHeaders.push('Cookie', cookie);
}

function toName(pair: string): string {
  return pair.slice(0, Math.max(0, pair.indexOf('='))).trim();
}

/**
 * Changes a header everywhere Node shows it.
 *
 * @param rewrite returns undefined for a value to remove
 */
function rewriteHeader(req: IncomingMessage, name: string, rewrite: (value: string) => string | undefined): void {
  // Node creates these two on first use from the raw headers, so they are read before the raw ones change.
  const { headers, headersDistinct, rawHeaders } = req;
  const value = rewrite(String(headers[name]));
  if (value === undefined) delete headers[name];
  else headers[name] = value;
  const values = headersDistinct[name]?.flatMap((one) => rewrite(one) ?? []);
  if (values?.length) headersDistinct[name] = values;
  else delete headersDistinct[name];
  const kept: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [rawName = '', rawValue = ''] = [rawHeaders[index], rawHeaders[index + 1]];
    const rewritten = rawName.toLowerCase() === name ? rewrite(rawValue) : rawValue;
    if (rewritten !== undefined) kept.push(rawName, rewritten);
  }
  req.rawHeaders = kept;
}

const BEARER = /^Bearer +([\x21-\x7e]{1,500}) *$/i;

/** Returns the token of `Authorization: Bearer`. */
export function readBearer({ headers }: IncomingMessage): string | undefined {
  return BEARER.exec(headers.authorization ?? '')?.[1];
}

/** True if a client accepts an encoding (RFC 9110, section 12.5.3). A malformed header only accepts unencoded bytes. */
export function acceptsEncoding(header: string, encoding: string): boolean {
  let byStar = false;
  for (const part of header.split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const taken = !parameters.some((parameter) => /^q=0(?:\.0{0,3})?$/.test(parameter));
    if (name === encoding) return taken;
    if (name === '*') byStar = taken;
  }
  return byStar;
}

/** How text is compressed, best first, as `Content-Encoding` and `Accept-Encoding` name it. */
const CODINGS = ['br', 'gzip'] as const;

export type Coding = (typeof CODINGS)[number];

/** For the few headers that browsers send, because reading one takes as long as several steps. */
const choose = remember((header) => CODINGS.find((coding) => acceptsEncoding(header, coding)), 100);

/** Chooses how a text is compressed for a client. Undefined if it accepts none, or does not say. */
export function chooseCoding({ headers }: IncomingMessage): Coding | undefined {
  return choose(String(headers['accept-encoding'] ?? ''));
}

/** Adds a name to `Vary`, like `response.vary()` of Express. */
export function addVary(res: ServerResponse, name: string): void {
  const given = String(res.getHeader('Vary') ?? '');
  const names = given === '' ? [] : given.toLowerCase().split(',');
  if (names.some((one) => one.trim() === name.toLowerCase())) return;
  res.setHeader('Vary', given === '' ? name : `${given}, ${name}`);
}

/** RFC 9110, section 13.1.2: weak comparison, a list, or `*`. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (!header) return false;
  if (header.trim() === '*') return true;
  const opaque = etag.replace(/^W\//, '');
  return header.split(',').some((item) => item.trim().replace(/^W\//, '') === opaque);
}
