import { TICKET_KEY } from '../../../shared/desk/ticket.ts';
import { type CheckToken, createCheckToken } from '../../access/check-token.ts';
import { createOperatorTokens, type OperatorToken } from '../../access/operator-tokens.ts';
import type { Step } from '../../engine/request/step.ts';
import { takeCredentials } from './credentials.ts';
import type { ProxySignIn } from './proxy-operator.ts';
import type { SessionStore } from './session-store.ts';
import { createSignIn, makeTicket, type SignIn } from './sign-in.ts';

interface SignInSettings {
  readonly tokens: readonly OperatorToken[];
  readonly proxy: ProxySignIn | undefined;
  readonly calls: SessionStore;
}

interface OpenSignIn {
  readonly signIn: SignIn;
  /** Removes the desk's credentials from each request, before all product code. */
  readonly takeCredentials: Step;
  /** Checks the tokens of the API. */
  readonly checkToken: CheckToken;
  /** Makes a sign-in link for the holder of a token. It works once. @param origin `http://127.0.0.1:3000` */
  makeLink(origin: string, name: string): Promise<string>;
}

export function openSignIn({ tokens: listed, proxy, calls }: SignInSettings): OpenSignIn {
  const tokens = createOperatorTokens(listed);
  const checkToken = createCheckToken(tokens);
  return {
    signIn: createSignIn({ tokens, sessions: calls, checkToken }),
    takeCredentials: takeCredentials(proxy),
    checkToken,
    makeLink: async (origin, name) => `${origin}/desk?${TICKET_KEY}=${await makeTicket(tokens, calls, name)}`,
  };
}
