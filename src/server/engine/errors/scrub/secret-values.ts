import { parse as parseQuery } from 'node:querystring';
import type { Scrubber } from '../scrub.ts';

type Hides = Pick<Scrubber, 'hides'>;

/**
 * The secrets among the environment's values, for `createScrubber({ literals })`: those of variables
 * with a secret's name, and the user's part of addresses (`DATABASE_URL`).
 */
export function listEnvironmentSecrets(env: Readonly<Record<string, string | undefined>>, scrubber: Hides): string[] {
  return Object.entries(env).flatMap(([name, value = '']) => {
    return scrubber.hides(name) ? [value, ...listUrlCredentials(value)] : listUrlCredentials(value);
  });
}

/** What a request brought along to prove who it is from. */
export interface RequestCredentials {
  readonly cookie?: string | undefined;
  readonly authorization?: string | undefined;
  /** Path and search. */
  readonly url?: string;
}

/**
 * The secrets of one request, for `scrubber.with()`: an error's message may repeat them without
 * their names.
 */
export function listRequestSecrets(request: RequestCredentials, scrubber: Hides): string[] {
  return [
    ...listCookieValues(request.cookie),
    ...listAuthorization(request.authorization),
    ...listQuerySecrets(request.url, scrubber),
  ];
}

/** How deep a body is looked into (levels), and how many of its fields (a count). */
const MAX_BODY_DEPTH = 8;
const MAX_BODY_FIELDS = 1000;

/**
 * The secrets of a posted body, for `scrubber.with()`: the values of fields with a secret's name.
 *
 * @param body a form, or what was parsed from JSON; anything else has none
 */
export function listBodySecrets(body: unknown, scrubber: Hides): string[] {
  const secrets: string[] = [];
  let fields = 0;

  function visit(value: unknown, isHidden: boolean, depth: number): void {
    if (typeof value === 'string' || typeof value === 'number') {
      if (isHidden) secrets.push(String(value));
      return;
    }
    if (typeof value !== 'object' || value === null || depth > MAX_BODY_DEPTH) return;
    const entries = value instanceof FormData ? value.entries() : Object.entries(value);
    for (const [name, field] of entries) {
      fields += 1;
      if (fields > MAX_BODY_FIELDS) return;
      visit(field, isHidden || scrubber.hides(name), depth + 1);
    }
  }
  visit(body, false, 0);
  return secrets;
}

function listCookieValues(cookie = ''): string[] {
  return cookie.split(';').flatMap((pair) => {
    const value = pair.slice(pair.indexOf('=') + 1).trim();
    return [value, value.replace(/^"(.*)"$/, '$1'), decode(value)];
  });
}

function listAuthorization(authorization = ''): string[] {
  const credential = authorization.slice(authorization.indexOf(' ') + 1).trim();
  if (!/^basic /i.test(authorization)) return [credential];
  const pair = Buffer.from(credential, 'base64').toString('utf8');
  return [credential, pair, pair.slice(pair.indexOf(':') + 1)];
}

function listQuerySecrets(url = '', scrubber: Hides): string[] {
  const start = url.indexOf('?');
  if (start < 0) return [];
  return Object.entries(parseQuery(url.slice(start + 1)))
    .filter(([name]) => scrubber.hides(name))
    .flatMap(([, value = []]) => value);
}

function listUrlCredentials(value: string): string[] {
  if (!value.includes('@') || !URL.canParse(value)) return [];
  const { username, password } = new URL(value);
  return [password || username].flatMap((part) => [part, decode(part)]);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
