import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  hasNoDouble,
  type NamedToken,
  ONLY_OPERATOR,
  type OperatorToken,
} from '../../../server/front/operator-tokens.ts';
import { ConfigError } from '../../../server/settings.ts';
import type { DeskLog } from '../desk-log.ts';

export interface TokenSettings {
  readonly operatorTokens: readonly NamedToken[];
  readonly viewerTokens: readonly NamedToken[];
  readonly dataDir: string;
  /** Set if several replicas share the desk, and so its tokens. */
  readonly deskDatabaseUrl: string | undefined;
}

export interface ListedTokens {
  readonly tokens: readonly OperatorToken[];
  /** Whether the operator's token was created just now. */
  readonly isNew: boolean;
}

/**
 * Lists all tokens of the desk. Without OPERATOR_TOKEN, the token is stored in the data folder. If that fails, there is
 * no operator.
 *
 * @throws ConfigError if replicas have no common token, or if a name or a token occurs twice
 */
export function listTokens(settings: TokenSettings, log: DeskLog): ListedTokens {
  const viewers = settings.viewerTokens.map((named): OperatorToken => ({ ...named, role: 'viewer' }));
  const kept = settings.operatorTokens.length === 0 ? keepOwn(settings, log) : undefined;
  const named = kept ? [{ name: ONLY_OPERATOR, token: kept.token }] : settings.operatorTokens;
  const tokens = [...named.map((one): OperatorToken => ({ ...one, role: 'operator' })), ...viewers];
  if (![tokens.map(({ name }) => name), tokens.map(({ token }) => token)].every(hasNoDouble)) {
    throw new ConfigError([
      'The settings OPERATOR_TOKEN and VIEWER_TOKEN share a name or a token, so the role of its holder is ambiguous. Give each holder a different name and a different token.',
    ]);
  }
  return { tokens, isNew: kept?.isNew === true };
}

function keepOwn({ dataDir, deskDatabaseUrl }: TokenSettings, log: DeskLog): KeptToken | undefined {
  if (deskDatabaseUrl !== undefined) {
    throw new ConfigError([
      'The setting OPERATOR_TOKEN is missing. With DESK_DATABASE_URL, replicas share the desk and need the same token. Set it to the same value on all of them, for example the output of "openssl rand -hex 32".',
    ]);
  }
  try {
    return keepToken(dataDir);
  } catch (error) {
    log.error(
      { err: error },
      `No operator can sign in to the desk, because the token could not be stored in the folder ${dataDir} (DATA_DIR). Make the folder writable or set OPERATOR_TOKEN, then restart.`,
    );
    return undefined;
  }
}

interface KeptToken {
  readonly token: string;
  /** Whether this call created it. */
  readonly isNew: boolean;
}

/**
 * Returns the operator's token for servers without OPERATOR_TOKEN. Creates it at the first start, in a file of the data
 * folder that only its owner can read.
 *
 * @throws the system's error if the folder cannot be read or written
 */
function keepToken(dataDir: string): KeptToken {
  const file = join(dataDir, 'desk-token');
  const kept = readKept(file);
  if (kept) return { token: kept, isNew: false };
  const token = randomBytes(24).toString('base64url');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // An empty file is left by an interrupted start.
  writeFileSync(file, `${token}\n`, { mode: 0o600, flag: kept === undefined ? 'wx' : 'w' });
  return { token, isNew: true };
}

/** Returns an existing token. @returns undefined if there is none */
export function readKeptToken(dataDir: string): string | undefined {
  return readKept(join(dataDir, 'desk-token')) || undefined;
}

function readKept(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
