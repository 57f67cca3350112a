import { toNodeHandler } from 'better-auth/node';
import { type RequestHandler, Router } from 'express';
import { accountPaths } from '#product/account-paths.ts';
import type { AppParts } from '../context.ts';
import { listProviders } from './auth.ts';
import { sendCookies, toHeaders } from './visitor.ts';

/** Sign-in with other providers: sends the visitor there, and takes their answer. */
export function createRoutes({ services: { auth } }: AppParts): RequestHandler {
  const handle = toNodeHandler(auth);
  return Router()
    .get('/auth/sign-in/:provider', async (request, response, next) => {
      const provider = listProviders(auth).find((name) => name === request.params.provider);
      if (!provider) return next();
      const body = { provider, callbackURL: '/', errorCallbackURL: accountPaths.signIn };
      const sent = await auth.api.signInSocial({ body, headers: toHeaders(request), returnHeaders: true });
      sendCookies(response, sent.headers);
      response.redirect(sent.response.url ?? accountPaths.signIn);
    })
    .get('/auth/callback/:provider', (request, response) => {
      toHeaders(request); // replaces the header in the request, which better-auth reads
      return handle(request, response);
    });
}
