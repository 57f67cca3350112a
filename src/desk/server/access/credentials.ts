import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestInfo } from '#engine/server';
import { type Operator, type ProxyTrust, removeHeader, type Step, takeCookies } from '#engine/tracker';
import { Second } from '../../../shared/units.ts';
import { SESSION_TIME } from '../desk-limits.ts';
import { AUTH_PROXY_SECRET_HEADER, type ProxySignIn, readProxyOperator } from './proxy-operator.ts';

const PLAIN_NAME = 'desk';
/** A name that, over TLS, neither another host of the domain nor a page without TLS can set. */
const SECURE_NAME = '__Host-desk';

const SESSION_COOKIES = [PLAIN_NAME, SECURE_NAME];

/** The desk's credentials in one request. */
interface Credentials {
  /** By the names of `SESSION_COOKIES`. */
  readonly cookies: ReadonlyMap<string, string>;
  readonly proxied: Operator | undefined;
}

/** Kept apart from the request, so that product code cannot log them. */
const taken = new WeakMap<IncomingMessage, Credentials>();

/**
 * Reads the desk's credentials and removes them from the request. It runs before all product code, so that a step that
 * logs or forwards headers cannot leak a session. The name from the authenticating proxy stays in the request if the
 * proxy's secret proved it, so that the product can rely on it.
 */
export function takeCredentials(proxy: ProxySignIn | undefined, trust: ProxyTrust): Step {
  return function takeCredentials(req, _res, next) {
    requestInfo(req).hiddenCookies = SESSION_COOKIES;
    const cookies = takeCookies(req, SESSION_COOKIES);
    const proxied = proxy && readProxyOperator(req, proxy, trust);
    if (proxy && !proxied) removeHeader(req, proxy.header);
    removeHeader(req, AUTH_PROXY_SECRET_HEADER);
    if (cookies.size > 0 || proxied) taken.set(req, { cookies, proxied });
    next();
  };
}

/** Returns the id in the session cookie, or the first one if there are several. */
export function sessionCookieOf(req: IncomingMessage): string | undefined {
  return taken.get(req)?.cookies.get(toCookieName(req));
}

/** Returns the person that an authenticating proxy signed in. */
export function proxyOperatorOf(req: IncomingMessage): Operator | undefined {
  return taken.get(req)?.proxied;
}

/** Returns the name of the session cookie on the request's origin. */
function toCookieName(req: IncomingMessage): string {
  return requestInfo(req).secure ? SECURE_NAME : PLAIN_NAME;
}

/** @param session empty to remove the cookie */
export function setSessionCookie(req: IncomingMessage, res: ServerResponse, session: string): void {
  const seconds = session === '' ? 0 : SESSION_TIME / Second;
  const secure = requestInfo(req).secure ? '; Secure' : '';
  res.appendHeader(
    'Set-Cookie',
    `${toCookieName(req)}=${session}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`,
  );
}
