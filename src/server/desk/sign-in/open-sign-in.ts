import { TICKET_KEY } from '../../../shared/desk/ticket.ts';
import type { Desk } from '../desk.ts';
import { createReadAccess, type ReadAccess } from './access.ts';
import { type CheckBearer, createBearerCheck } from './bearer-check.ts';
import { createOperatorTokens, type OperatorToken } from './operator-tokens.ts';
import type { ProxySignIn } from './proxy-operator.ts';
import { createSessionStore } from './session-store.ts';
import { createSignIn } from './sign-in.ts';

export interface SignInSettings {
  readonly tokens: readonly OperatorToken[];
  readonly proxy: ProxySignIn | undefined;
  readonly desk: Pick<Desk, 'ask'>;
  /** Tells addresses apart without keeping them. */
  readonly toSender: (address: string) => string;
}

export interface OpenSignIn {
  readonly readAccess: ReadAccess;
  /** Who may use the API. */
  readonly checkBearer: CheckBearer;
  /** The address of the desk by which the holder of a token signs in, once. @param origin `http://127.0.0.1:3000` */
  makeLink(origin: string, name: string): Promise<string>;
}

/** Puts the way into the desk together. */
export function openSignIn({ tokens: listed, proxy, desk, toSender }: SignInSettings): OpenSignIn {
  const tokens = createOperatorTokens(listed);
  const sessions = createSessionStore((name, ...args) => desk.ask(name, ...args));
  const signIn = createSignIn({ tokens, sessions });
  return {
    readAccess: createReadAccess({
      signIn,
      proxy,
      toSender,
    }),
    checkBearer: createBearerCheck({ tokens, sessions }),
    makeLink: async (origin, name) => `${origin}/desk?${TICKET_KEY}=${await signIn.makeTicket(name)}`,
  };
}
