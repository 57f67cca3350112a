import { type ContextParts, type ProductContext, type ProductParts, requestInfo, toSender } from '#engine/server';
import { endSession, findUser, readToken, startSession, writeToken } from './accounts/sessions.ts';
import type { User } from './accounts/users.ts';
import type { Services } from './services.ts';
import type { Settings } from './settings.ts';

/** The argument of `createApi`, `steps` and `routes`. */
export type AppParts = ProductParts<Settings, Services>;

/** The `context` of every loader, action and guard. */
export interface AppContext extends ProductContext<Settings, Services>, VisitorContext {}

interface VisitorContext {
  /** The user who was signed in when the request arrived. */
  readonly user: User | undefined;
  /** The visitor's network address, to limit attempts. */
  readonly sender: string;
  /** Starts a new session in place of the old one. Redirect afterwards, because `user` stays the same. */
  signIn(user: User): Promise<void>;
  signOut(): Promise<void>;
}

export async function createContext(parts: ContextParts<Settings, Services>): Promise<VisitorContext> {
  const {
    request,
    response,
    services: { db },
  } = parts;
  const token = readToken(request);
  const user = await findUser(db, request);
  return {
    user,
    sender: toSender(requestInfo(request).address),
    async signIn(user) {
      if (token !== undefined) await endSession(db, token);
      writeToken(request, response, await startSession(db, user));
    },
    async signOut() {
      if (token !== undefined) await endSession(db, token);
      writeToken(request, response, undefined);
    },
  };
}
