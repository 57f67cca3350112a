import type { ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { ActionResult } from '../../../shared/wire/payload.ts';
import { ACTION_ACCEPT, NOT_FOUND_ROUTE } from '../../../shared/wire/protocol.ts';
import { replaceCookies } from '../../request/request-headers.ts';
import { requestInfo } from '../../request/request-info.ts';
import type { Redirect } from '../kept.ts';
import { loadPage } from '../load-page.ts';
import { type PageExchange, READ_METHODS, sendRedirect, type VisitorExchange } from '../page-response.ts';
import { sendActionData, sendRedirectData } from '../render/page-data.ts';
import { sendDocument } from '../render/show-page.ts';
import { readForm } from './form-body.ts';
import { type ActionEnd, runAction } from './run-action.ts';

/**
 * Handles a form that was posted to a page. Without JavaScript the response is 303, or the page with the errors and
 * what was typed. With JavaScript it is the same as data.
 */
export async function postAction(exchange: VisitorExchange): Promise<void> {
  const { services, pageRequest, response } = exchange;
  const wantsData = response.req.headers.accept?.includes(ACTION_ACCEPT) ?? false;
  response.vary('Accept');
  const end = await takeForm(exchange, wantsData);
  if (end.kind === 'gone') return;
  if (end.kind === 'redirect') return redirectTo(exchange, wantsData, end);

  const result = end.kind === 'failed' ? undefined : end.result;
  if (result?.status === 405 && pageRequest.match.ids.at(-1) !== NOT_FOUND_ROUTE) {
    response.setHeader('Allow', READ_METHODS);
  }
  if (!wantsData && result && isDone(result)) {
    return sendRedirect(exchange, { status: 303, location: pageRequest.path + pageRequest.search });
  }
  const failed = end.kind === 'failed' || (end.kind === 'unknown' && !wantsData) ? end : undefined;
  applyResponseCookies(response);
  pageRequest.renewArgs();
  const loaded = await loadPage({ services, pageRequest, failed });
  if (loaded.kind === 'gone') return;
  if (loaded.kind === 'redirect') return redirectTo(exchange, wantsData, loaded);
  if (wantsData) return sendActionData(exchange, loaded, result);
  return sendDocument(exchange, loaded, result);
}

/** Reads the form and runs its action. */
async function takeForm({ services, pageRequest, response }: PageExchange, wantsData: boolean): Promise<ActionEnd> {
  const { maxActionBytes: limit, funnel } = services;
  const { req: request } = response;
  let form: FormData;
  try {
    form = await readForm({ request, response, limit });
    pageRequest.enter();
  } catch (error) {
    const disposition = funnel.fail(error, pageRequest.describe('action'));
    if (disposition.kind !== 'error') return { kind: 'gone' };
    const { status, message = 'The form was not accepted.', kind } = disposition.error;
    // With JavaScript the form stays on the page, which does not become an error page.
    if (wantsData && kind !== 'failure') {
      return { kind: 'result', result: { action: '', status, errors: { '': message } } };
    }
    return { kind: 'failed', routeId: pageRequest.match.ids.at(-1) ?? '', error: disposition.error };
  }
  return runAction({ services, pageRequest, form });
}

/** The action succeeded and returned nothing, so a redirect avoids a second post on reload. */
function isDone(result: ActionResult): boolean {
  return result.status === 200 && result.data === undefined;
}

function redirectTo(exchange: PageExchange, wantsData: boolean, redirect: Redirect): void {
  if (wantsData) sendRedirectData(exchange, redirect.location);
  else sendRedirect(exchange, redirect);
}

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
function applyResponseCookies(response: ServerResponse): void {
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
