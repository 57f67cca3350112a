import { isAPIError } from 'better-auth/api';
import { fromNodeHeaders } from 'better-auth/node';
import type { CookieOptions, Request, Response } from 'express';
import { HttpError, requestInfo } from '#engine/server';
import type { Auth, User } from './auth.ts';

/** Passes the visitor's address to better-auth. `toHeaders` replaces what the visitor sent in it. */
export const addressHeader = 'x-visitor-address';

/** Returns a request's headers for better-auth. */
export function toHeaders(request: Request): Headers {
  request.headers[addressHeader] = requestInfo(request).address;
  return fromNodeHeaders(request.headers);
}

/** Sends the cookies that better-auth returned. */
export function sendCookies(response: Response, headers: Headers): void {
  for (const cookie of headers.getSetCookie()) response.append('Set-Cookie', cookie);
}

/** Has the id of the signed-in user, because reports of failures cannot wait for the database. */
const idCookie = 'app.visitor';

/** Returns the user's id for reports of failures, so that `npm run desk -- forget <id>` finds them. */
export function readVisitorId({ headers: { cookie = '' } }: Pick<Request, 'headers'>): string | undefined {
  return /(?:^|; )app\.visitor=([\w-]+)/.exec(cookie)?.[1];
}

/**
 * Returns the signed-in user. Without a cookie, it does not ask the database. It renews the session only if the response
 * can still have the cookie: that of a page with `mode: 'shell'` has sent its headers.
 */
export async function findUser(auth: Auth, request: Request, response?: Response): Promise<User | undefined> {
  if (request.headers.cookie === undefined) return undefined;
  const isSent = response?.headersSent;
  const query = isSent ? { disableRefresh: true } : undefined;
  const found = await auth.api
    .getSession({ headers: toHeaders(request), query, returnHeaders: true })
    .catch((error: unknown) => {
      if (!isAPIError(error)) throw error;
      // better-auth wraps what the database throws, such as 503 while all connections are in use.
      if (error.cause instanceof HttpError) throw error.cause;
      // Without the status of better-auth, which would be that of the page.
      throw new Error('The session could not be read.', { cause: error });
    });
  const { user } = found.response ?? {};
  if (response && !isSent) {
    sendCookies(response, found.headers);
    const options: CookieOptions = { httpOnly: true, sameSite: 'lax', secure: auth.options.advanced.useSecureCookies };
    if (user && user.id !== readVisitorId(request)) response.cookie(idCookie, user.id, options);
    if (!user && readVisitorId(request)) response.clearCookie(idCookie, options);
  }
  return user && { id: user.id, email: user.email };
}

/** Returns better-auth's code of an expected error, such as INVALID_PASSWORD. Throws any other error again. */
export function toCode<Code extends string>(error: unknown, codes: readonly Code[]): Code {
  const code = isAPIError(error) ? codes.find((code) => code === error.body?.code) : undefined;
  if (code === undefined) throw error;
  return code;
}
