import { ConfigError } from '../../engine/settings.ts';
import type { DeskLog } from '../desk-log.ts';
import { hasNoDouble, type NamedToken, ONLY_OPERATOR, type OperatorToken } from './operator-tokens.ts';
import { type KeptToken, keepToken } from './token-file.ts';

export interface TokenSettings {
  readonly operatorTokens: readonly NamedToken[];
  readonly viewerTokens: readonly NamedToken[];
  readonly dataDir: string;
  /** Set where several replicas share the desk, and so must share its tokens. */
  readonly deskDatabaseUrl: string | undefined;
}

export interface ListedTokens {
  readonly tokens: readonly OperatorToken[];
  /** Whether the operator's token was created just now. */
  readonly isNew: boolean;
}

/**
 * All tokens of the desk. Without a setting for operators there is one in the data folder; where that
 * cannot be kept, nobody can sign in as one.
 *
 * @throws ConfigError where replicas have no token in common, or a name or a token stands for two
 */
export function listTokens(settings: TokenSettings, log: DeskLog): ListedTokens {
  const viewers = settings.viewerTokens.map((named): OperatorToken => ({ ...named, role: 'viewer' }));
  const kept = settings.operatorTokens.length === 0 ? keepOwn(settings, log) : undefined;
  const named = kept ? [{ name: ONLY_OPERATOR, token: kept.token }] : settings.operatorTokens;
  const tokens = [...named.map((one): OperatorToken => ({ ...one, role: 'operator' })), ...viewers];
  if (![tokens.map(({ name }) => name), tokens.map(({ token }) => token)].every(hasNoDouble)) {
    throw new ConfigError([
      'The settings OPERATOR_TOKEN and VIEWER_TOKEN have a name or a token in common, so it would not be known what its holder may do. Give each holder a name and a token of their own.',
    ]);
  }
  return { tokens, isNew: kept?.isNew === true };
}

function keepOwn({ dataDir, deskDatabaseUrl }: TokenSettings, log: DeskLog): KeptToken | undefined {
  if (deskDatabaseUrl !== undefined) {
    throw new ConfigError([
      'The setting OPERATOR_TOKEN is missing. With DESK_DATABASE_URL several replicas share the desk, and each would make a token of its own. Set it to the same on all of them, such as what "openssl rand -hex 32" prints.',
    ]);
  }
  try {
    return keepToken(dataDir);
  } catch (error) {
    log.error(
      { err: error },
      `No token for the desk can be kept in the folder ${dataDir} (DATA_DIR), so nobody can sign in. Make it writable, or set OPERATOR_TOKEN, and start again.`,
    );
    return undefined;
  }
}
