import { createCheckToken } from '../../../server/front/check-token.ts';
import { createOperatorTokens, type OperatorToken } from '../../../server/front/operator-tokens.ts';
import { TICKET_KEY } from '../../shared/ticket.ts';
import type { DeskLog } from '../desk-log.ts';
import { takeCredentials } from './credentials.ts';
import type { ProxySignIn } from './proxy-operator.ts';
import { createSignIn, makeTicket, type SessionStore } from './sign-in.ts';

interface SignInSettings {
  readonly tokens: readonly OperatorToken[];
  readonly proxy: ProxySignIn | undefined;
  readonly calls: SessionStore;
}

export function openSignIn({ tokens: listed, proxy, calls }: SignInSettings) {
  const tokens = createOperatorTokens(listed);
  const checkToken = createCheckToken(tokens);
  return {
    signIn: createSignIn({ tokens, sessions: calls, checkToken }),
    /** Removes the desk's credentials from each request, before all product code. */
    takeCredentials: takeCredentials(proxy),
    /** Checks the tokens of the API. */
    checkToken,
    /**
     * Prints a sign-in link for the holder of a token on standard error, because logs are often forwarded and kept.
     *
     * @param origin `http://127.0.0.1:3000`
     */
    async printLink(origin: string, name: string, log: DeskLog): Promise<void> {
      try {
        const link = `${origin}/desk?${TICKET_KEY}=${await makeTicket(tokens, calls, name)}`;
        process.stderr.write(`Sign in to the desk (works once, expires in 15 minutes): ${link}\n`);
      } catch (error) {
        log.warn({ err: error }, 'No sign-in link could be created. Sign in with the token in DATA_DIR/desk-token.');
      }
    },
  };
}
