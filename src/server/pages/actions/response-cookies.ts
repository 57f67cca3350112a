import type { ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { replaceCookies } from '../../request/request-headers.ts';
import { requestInfo } from '../../request/request-info.ts';

/** A `Set-Cookie` header. */
interface SetCookie {
  readonly name: string;
  /** `session=abc` */
  readonly pair: string;
  /** In lower case; empty for this host only. */
  readonly domain: string;
  readonly path: string;
  readonly isExpired: boolean;
}

/**
 * Gives a request the cookies that the next request of the browser for the same URL will have: applies the `Set-Cookie`
 * headers of the response, as a browser does (RFC 6265, section 5). Cookies that are written together with the headers,
 * such as those of `express-session`, are not known yet.
 */
export function applyResponseCookies(response: ServerResponse): void {
  const { req } = response;
  const { url, hiddenCookies } = requestInfo(req);
  const set = new Map<string, SetCookie>();
  for (const line of [response.getHeader('Set-Cookie') ?? []].flat()) {
    const cookie = parseSetCookie(String(line), url.pathname);
    if (!cookie || hiddenCookies.includes(cookie.name) || !isSentTo(url, cookie)) continue;
    // Browsers keep cookies with the same name apart if their domain or path differs.
    set.set(JSON.stringify([cookie.name, cookie.domain, cookie.path]), cookie);
  }
  if (set.size === 0) return;
  const cookies = [...set.values()].sort((one, other) => other.path.length - one.path.length);
  replaceCookies(
    req,
    cookies.map(({ name }) => name),
    cookies.filter(({ isExpired }) => !isExpired).map(({ pair }) => pair),
  );
}

/** @param path of the request: a cookie without a path belongs to its folder */
function parseSetCookie(line: string, path: string): SetCookie | undefined {
  const [pair = '', ...parts] = line.split(';').map((part) => part.trim());
  const equals = pair.indexOf('=');
  const name = pair.slice(0, Math.max(0, equals)).trim();
  if (name === '') return undefined;
  const attributes = new Map<string, string>(); // the last one of each name counts
  for (const part of parts) {
    const [key = '', ...value] = part.split('=');
    attributes.set(key.trim().toLowerCase(), value.join('=').trim());
  }
  const { domain = '', path: ownPath = '', 'max-age': maxAge = '', expires = '' } = Object.fromEntries(attributes);
  return {
    name,
    pair: `${name}=${pair.slice(equals + 1).trim()}`,
    domain: domain.replace(/^\./, '').toLowerCase(),
    path: ownPath.startsWith('/') ? ownPath : path.slice(0, Math.max(1, path.lastIndexOf('/'))),
    isExpired: /^-?\d+$/.test(maxAge) ? Number(maxAge) <= 0 : Date.parse(expires) <= Date.now(),
  };
}

function isSentTo({ hostname, pathname }: URL, { domain, path }: SetCookie): boolean {
  const isOfHost = domain === '' || domain === hostname || (hostname.endsWith(`.${domain}`) && isIP(hostname) === 0);
  const isOfPath =
    pathname === path || (pathname.startsWith(path) && (path.endsWith('/') || pathname[path.length] === '/'));
  return isOfHost && isOfPath;
}
