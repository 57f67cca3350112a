import type { IncomingHttpHeaders } from 'node:http';
import { parse as parseQuery } from 'node:querystring';
import { withDecoded } from '../../request/paths.ts';
import type { Scrubber } from '../scrub.ts';
import { listPathSecrets } from './secret-path.ts';

type Hides = Pick<Scrubber, 'hides'>;
type HidesInQuery = Pick<Scrubber, 'hides' | 'hidesInQuery'>;

/** How often a URL is looked for in the query of another one (count). */
const MAX_NESTING = 3;

/** These names look secret, but every shell sets them to its folder, which is in each stack. */
const FOLDERS = new Set(['PWD', 'OLDPWD']);

/**
 * Lists the secrets among the environment's values, for a scrubber: the values of variables with a
 * secret name, and the credentials in URLs (`DATABASE_URL`).
 */
export function listEnvironmentSecrets(env: Readonly<Record<string, string | undefined>>, scrubber: Hides): string[] {
  return Object.entries(env).flatMap(([name, value = '']) => {
    return scrubber.hides(name) && !FOLDERS.has(name)
      ? [value, ...listUrlCredentials(value)]
      : listUrlCredentials(value);
  });
}

/** The parts of a request, including those that authenticate its sender. */
interface RequestParts {
  readonly headers?: IncomingHttpHeaders | undefined;
  /** Path and query. */
  readonly url?: string | undefined;
  /** The route's pattern: `/reset/:token` shows which part of the path is a secret. */
  readonly route?: string | undefined;
}

/**
 * Lists the secrets of one request, for `scrubber.forReport()`, because an error's message can repeat them without their
 * names.
 */
export function listRequestSecrets(request: RequestParts, scrubber: HidesInQuery): string[] {
  const { headers = {}, url = '', route } = request;
  return [
    ...listHeaderSecrets(headers, scrubber),
    ...listQuerySecrets(url, scrubber),
    ...listQuerySecrets(headers.referer, scrubber),
    ...listPathSecrets(url, route, scrubber),
  ];
}

function listHeaderSecrets(headers: IncomingHttpHeaders, scrubber: Hides): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (value === undefined || !scrubber.hides(name)) return [];
    const text = String(value);
    return name === 'cookie' ? listCookieValues(text) : [text, ...listAuthorization(text)];
  });
}

/** How deep a body is searched (levels), and how many of its fields (count). */
const MAX_SEARCHED_DEPTH = 8;
const MAX_SEARCHED_FIELDS = 1000;

/**
 * Lists the secrets of a posted body, for `scrubber.forReport()`: the values of fields with a secret name.
 *
 * @param body a form, or parsed JSON; anything else has no secrets
 */
export function listBodySecrets(body: unknown, scrubber: Hides): string[] {
  const secrets: string[] = [];
  let fields = 0;

  function visit(value: unknown, isHidden: boolean, depth: number): void {
    if (typeof value === 'string' || typeof value === 'number') {
      if (isHidden) secrets.push(String(value));
      return;
    }
    if (typeof value !== 'object' || value === null || depth > MAX_SEARCHED_DEPTH) return;
    const entries = value instanceof FormData ? value.entries() : Object.entries(value);
    for (const [name, field] of entries) {
      fields += 1;
      if (fields > MAX_SEARCHED_FIELDS) return;
      visit(field, isHidden || scrubber.hides(name), depth + 1);
    }
  }
  visit(body, false, 0);
  return secrets;
}

function listCookieValues(cookie: string): string[] {
  return cookie.split(';').flatMap((pair) => {
    const value = pair.slice(pair.indexOf('=') + 1).trim();
    return [value.replace(/^"(.*)"$/, '$1'), ...withDecoded(value)];
  });
}

function listAuthorization(authorization: string): string[] {
  const credential = authorization.slice(authorization.indexOf(' ') + 1).trim();
  if (!/^basic /i.test(authorization)) return [credential];
  const pair = Buffer.from(credential, 'base64').toString('utf8');
  return [credential, pair, pair.slice(pair.indexOf(':') + 1)];
}

/** Also searches the URLs in a query. */
function listQuerySecrets(url = '', scrubber: HidesInQuery, depth = 0): string[] {
  const start = url.indexOf('?');
  if (start < 0 || depth > MAX_NESTING) return [];
  return Object.entries(parseQuery(url.slice(start + 1))).flatMap(([name, value = []]) => {
    const values = [value].flat();
    return scrubber.hidesInQuery(name)
      ? values
      : values.flatMap((inner) => listQuerySecrets(inner, scrubber, depth + 1));
  });
}

function listUrlCredentials(value: string): string[] {
  if (!value.includes('@') || !URL.canParse(value)) return [];
  const { username, password } = new URL(value);
  return withDecoded(password || username);
}
