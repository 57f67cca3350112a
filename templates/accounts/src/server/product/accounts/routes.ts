import { type RequestHandler, Router } from 'express';
import { report } from '#engine/server';
import { accountPaths, returnTo } from '#product/account-paths.ts';
import type { AppParts } from '../context.ts';
import { listProviders, withLog } from './auth.ts';
import { toTarget } from './require-user.ts';
import { sendCookies, toHeaders } from './visitor.ts';

/** Sign-in with other providers: sends the visitor there, and takes their answer. */
export function createRoutes({ services: { auth } }: AppParts): RequestHandler {
  const toUrl = (path: string) => new URL(path, auth.options.baseURL);
  return Router()
    .get('/auth/sign-in/:provider', async (request, response, next) => {
      const provider = listProviders(auth).find((name) => name === request.params.provider);
      if (!provider) return next();
      const to = toTarget(toUrl(request.originalUrl));
      const signIn = returnTo(accountPaths.signIn, to);
      const body = { provider, callbackURL: to, errorCallbackURL: signIn };
      try {
        const call = { body, headers: toHeaders(request), returnHeaders: true } as const;
        const sent = await inTime(auth.api.signInSocial(call));
        sendCookies(response, sent.headers);
        response.redirect(sent.response.url ?? signIn);
      } catch (error) {
        response.redirect(showFailure(provider, error, toUrl(signIn)));
      }
    })
    .get('/auth/callback/:provider', async (request, response) => {
      const { provider } = request.params;
      const call = {
        params: { id: provider },
        query: Object.fromEntries(toUrl(request.originalUrl).searchParams),
        headers: toHeaders(request),
        asResponse: true,
      } as const;
      try {
        const [answer, log] = await inTime(withLog(() => auth.api.callbackOAuth(call)));
        sendCookies(response, answer.headers);
        const location = answer.headers.get('location') ?? `${accountPaths.signIn}?error=malformed`;
        const failure = findFailure(toUrl(location).searchParams.get('error') ?? '', log);
        response.redirect(failure === undefined ? location : showFailure(provider, failure, toUrl(location)));
      } catch (error) {
        response.redirect(showFailure(provider, error, toUrl(accountPaths.signIn)));
      }
    });
}

/** How long a provider can take (ms). The requests of better-auth have no time limit. */
const patienceMs = 10_000;

async function inTime<Answer>(asking: Promise<Answer>): Promise<Answer> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('The provider has not answered for 10 s.')), patienceMs);
  return Promise.race([asking, promise]).finally(() => clearTimeout(timer));
}

/** A provider answers 400 to a code that a stranger made up. */
const REFUSED = 400;

/** Returns why the provider or this server failed. Undefined: the visitor or the provider refused. */
function findFailure(code: string, log: unknown[]): unknown {
  if (!/^(?:invalid_code|internal_server_error|unable_to_\w+)$/.test(code)) return undefined;
  const cause = log.find((entry) => typeof entry === 'object' && entry !== null) ?? log[0];
  const isRefused = typeof cause === 'object' && cause !== null && 'status' in cause && cause.status === REFUSED;
  return isRefused ? undefined : cause;
}

/** Reports a failure. @returns the sign-in page that shows its address */
function showFailure(provider: string, cause: unknown, { searchParams }: URL): string {
  const address = report(new Error(`Signing in with ${provider} failed.`, { cause })) ?? '';
  const to = searchParams.get('to');
  return `${accountPaths.signIn}?${new URLSearchParams({ ...(to && { to }), error: 'unavailable', address })}`;
}
