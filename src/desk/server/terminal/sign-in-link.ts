import {
  createTokens,
  listTokens,
  type OperatorToken,
  readKeptToken,
  readSettings,
  SETTINGS,
  toHttpUrl,
} from '#engine/tracker';
import { TICKET_KEY } from '../../shared/ticket.ts';
import { makeTicket } from '../access/sign-in.ts';
import { DESK_SETTINGS } from '../settings.ts';
import type { TerminalDesk } from './terminal-desk.ts';
import { TerminalError } from './terminal-error.ts';

interface SignInLink extends Pick<OperatorToken, 'name' | 'role'> {
  readonly link: string;
  /** Whether the address is a guess: the server can have another environment than this command. */
  readonly isGuessed: boolean;
}

/**
 * Makes a link that signs in once, with a token that the server knows too.
 *
 * @param name that of a token; undefined if there is only one operator
 * @throws TerminalError if there is no such token
 * @throws ConfigError if a setting is invalid
 */
export async function makeSignInLink(
  { store, settings, env }: TerminalDesk,
  name: string | undefined,
): Promise<SignInLink> {
  const { OPERATOR_TOKEN, VIEWER_TOKEN, PUBLIC_ORIGINS, HOST, PORT, DESK_PORT } = SETTINGS;
  const { DESK_ORIGIN } = DESK_SETTINGS;
  const values = readSettings(
    { OPERATOR_TOKEN, VIEWER_TOKEN, PUBLIC_ORIGINS, HOST, PORT, DESK_PORT, DESK_ORIGIN },
    env,
  );
  const kept = values.OPERATOR_TOKEN.length === 0 ? readKeptToken(settings.dataDir) : undefined;
  if (values.OPERATOR_TOKEN.length === 0 && !kept) {
    throw new TerminalError(
      "No operator token was found. Set OPERATOR_TOKEN to the server's value, or DATA_DIR to the folder with its desk-token file.",
    );
  }
  const tokens = listTokens({
    operatorTokens: kept ? [kept] : values.OPERATOR_TOKEN,
    viewerTokens: values.VIEWER_TOKEN,
  });
  const token = chooseToken(tokens, name);
  const ticket = await makeTicket(createTokens(tokens), store.sessions, token.name);
  const known = values.DESK_ORIGIN || (values.DESK_PORT === undefined && values.PUBLIC_ORIGINS[0]);
  const origin = known || toHttpUrl(toReachable(values.HOST), values.DESK_PORT ?? values.PORT);
  const link = `${origin}/desk?${TICKET_KEY}=${ticket}`;
  return { link, name: token.name, role: token.role, isGuessed: !known };
}

function chooseToken(tokens: readonly OperatorToken[], name: string | undefined): OperatorToken {
  const operators = tokens.filter(({ role }) => role === 'operator');
  const chosen = name === undefined ? operators : tokens.filter((token) => token.name === name);
  const [only] = chosen;
  if (only && chosen.length === 1) return only;
  const names = tokens.map((token) => (token.role === 'viewer' ? `${token.name} (read-only)` : token.name)).join(', ');
  throw new TerminalError(`Choose a token for the link: link <name>. Available names: ${names}.`);
}

/** Replaces a wildcard address, which cannot be called. */
function toReachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
