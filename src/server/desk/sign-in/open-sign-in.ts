import { TICKET_KEY } from '../../../shared/desk/ticket.ts';
import type { Desk } from '../desk.ts';
import { createVisitors } from '../tunnel/visitors.ts';
import { createReadAccess, type ReadAccess } from './access.ts';
import { createOperatorTokens, type OperatorToken } from './operator-tokens.ts';
import type { ProxySignIn } from './proxy-operator.ts';
import { createSessionStore } from './session-store.ts';
import { createSignIn } from './sign-in.ts';

export interface SignInSettings {
  readonly tokens: readonly OperatorToken[];
  readonly proxy: ProxySignIn | undefined;
  readonly desk: Pick<Desk, 'ask'>;
}

export interface OpenSignIn {
  readonly readAccess: ReadAccess;
  /** The address of the desk by which the holder of a token signs in, once. @param origin `http://127.0.0.1:3000` */
  makeLink(origin: string, name: string): Promise<string>;
}

/** Puts the way into the desk together. */
export function openSignIn({ tokens, proxy, desk }: SignInSettings): OpenSignIn {
  const signIn = createSignIn({
    tokens: createOperatorTokens(tokens),
    sessions: createSessionStore((name, ...args) => desk.ask(name, ...args)),
  });
  let salt: string | undefined;
  desk.ask('readSalt').then(
    (known) => {
      salt = known;
    },
    () => undefined, // the store is away: until the next start this process counts attempts by a hash of its own
  );
  return {
    readAccess: createReadAccess({
      signIn,
      proxy,
      toSender: createVisitors({ salt: () => salt }),
    }),
    makeLink: async (origin, name) => `${origin}/desk?${TICKET_KEY}=${await signIn.makeTicket(name)}`,
  };
}
