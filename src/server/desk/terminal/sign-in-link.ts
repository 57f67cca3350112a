import { TICKET_KEY } from '../../../shared/desk/ticket.ts';
import { createOperatorTokens, type OperatorToken } from '../../access/operator-tokens.ts';
import { SETTINGS } from '../../config.ts';
import { toHttpUrl } from '../../engine/connection/listen.ts';
import { type Environment, readSettings } from '../../engine/settings.ts';
import { TerminalError } from '../../terminal/terminal-error.ts';
import { listTokens } from '../access/list-tokens.ts';
import { makeTicket } from '../access/sign-in.ts';
import { readKeptToken } from '../access/token-file.ts';
import type { DeskLog } from '../desk-log.ts';
import type { Store } from '../store/store.ts';
import type { TerminalSettings } from './read-terminal-settings.ts';

export interface SignInLink {
  readonly link: string;
  readonly whom: Pick<OperatorToken, 'name' | 'role'>;
  /** The setting of the port, if the address is a guess: the server's environment can have another value. */
  readonly guessedFrom?: 'PORT' | 'DESK_PORT';
}

export interface LinkOptions {
  readonly store: Store;
  readonly settings: TerminalSettings;
  readonly env: Environment;
  /** The name of a token; undefined if there is only one operator. */
  readonly name: string | undefined;
  readonly log: DeskLog;
}

/**
 * Makes a link that signs in once, with a token that the server knows too.
 *
 * @throws TerminalError if there is no such token
 * @throws ConfigError if a setting is invalid
 */
export async function makeSignInLink({ store, settings, env, name, log }: LinkOptions): Promise<SignInLink> {
  const { OPERATOR_TOKEN, VIEWER_TOKEN, PUBLIC_ORIGINS, HOST, PORT, DESK_PORT } = SETTINGS;
  const values = readSettings({ OPERATOR_TOKEN, VIEWER_TOKEN, PUBLIC_ORIGINS, HOST, PORT, DESK_PORT }, env);
  if (values.OPERATOR_TOKEN.length === 0 && readKeptToken(settings.dataDir) === undefined) {
    throw new TerminalError(
      "No operator token was found. Set OPERATOR_TOKEN to the server's value, or DATA_DIR to the folder with its desk-token file.",
    );
  }
  const { tokens } = listTokens(
    {
      operatorTokens: values.OPERATOR_TOKEN,
      viewerTokens: values.VIEWER_TOKEN,
      dataDir: settings.dataDir,
      deskDatabaseUrl: settings.databaseUrl,
    },
    log,
  );
  const whom = chooseToken(tokens, name);
  const ticket = await makeTicket(createOperatorTokens(tokens), store, whom.name);
  const [publicOrigin] = values.DESK_PORT === undefined ? values.PUBLIC_ORIGINS : [];
  const origin = publicOrigin ?? toHttpUrl(toReachable(values.HOST), values.DESK_PORT ?? values.PORT);
  const link = `${origin}/desk?${TICKET_KEY}=${ticket}`;
  const guessedFrom = values.DESK_PORT === undefined ? 'PORT' : 'DESK_PORT';
  return { link, whom: { name: whom.name, role: whom.role }, ...(publicOrigin === undefined && { guessedFrom }) };
}

function chooseToken(tokens: readonly OperatorToken[], name: string | undefined): OperatorToken {
  if (name !== undefined) {
    const named = tokens.find((token) => token.name === name);
    if (named) return named;
    throw new TerminalError(`No token has the name ${name}. Available names: ${listNames(tokens)}.`);
  }
  const operators = tokens.filter(({ role }) => role === 'operator');
  const [only] = operators;
  if (only && operators.length === 1) return only;
  throw new TerminalError(`Choose a token for the link: link <name>. Available names: ${listNames(tokens)}.`);
}

function listNames(tokens: readonly OperatorToken[]): string {
  return tokens.map(({ name, role }) => (role === 'viewer' ? `${name} (read-only)` : name)).join(', ');
}

/** Replaces a wildcard address, which cannot be called. */
function toReachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
