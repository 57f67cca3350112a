import { isAPIError } from 'better-auth/api';
import {
  type ContextParts,
  createDefinePage,
  type ProductContext,
  type ProductParts,
  requestInfo,
  toSender,
} from '#engine/server';
import type { routes } from '#product/routes.tsx';
import type { Auth, User } from './accounts/auth.ts';
import { hashFor } from './accounts/hashing.ts';
import { createLimits, type Limits } from './accounts/limits.ts';
import { findUser, sendCookies, toHeaders } from './accounts/visitor.ts';
import type { Services } from './services.ts';
import type { Settings } from './settings.ts';

/** The argument of `createApi`, `steps` and `routes`. */
export type AppParts = ProductParts<Settings, Services>;

/** The `context` of every loader, action and guard. */
export interface AppContext extends ProductContext<Settings, Services>, VisitorContext {}

/** Defines the server file of a page or layout. */
export const definePage = createDefinePage<AppContext, typeof routes>();

interface VisitorContext {
  /** The user who was signed in when the request arrived. */
  readonly user: User | undefined;
  readonly limits: Limits;
  /** Calls better-auth for this visitor, and sends the cookies of its answer. */
  auth<Result>(call: (api: Auth['api'], visitor: Visitor) => Promise<Answer<Result>>): Promise<Result>;
}

interface Visitor {
  readonly headers: Headers;
  readonly returnHeaders: true;
}

interface Answer<Result> {
  readonly headers: Headers;
  readonly response: Result;
}

export async function createContext(parts: ContextParts<Settings, Services>): Promise<VisitorContext> {
  const { request, response, services } = parts;
  const sender = toSender(requestInfo(request).address);
  return {
    user: await findUser(services.auth, request, response),
    limits: createLimits(services.counts, sender),
    async auth(call) {
      const visitor = { headers: toHeaders(request), returnHeaders: true } as const;
      try {
        const answer = await hashFor(sender, () => call(services.auth.api, visitor));
        sendCookies(response, answer.headers);
        return answer.response;
      } catch (error) {
        // better-auth removes the stack of its errors. The incident shows the line that called it.
        if (isAPIError(error)) Error.captureStackTrace(error);
        throw error;
      }
    },
  };
}
