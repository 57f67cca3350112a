import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../settings.ts';

/** *Viewers* can only read. *Operators* can also change things. */
export type Role = 'viewer' | 'operator';

/** A person with a token. */
export interface Operator {
  readonly name: string;
  readonly role: Role;
}

/** A token with the name of its holder, which is recorded with each change. */
interface NamedToken {
  readonly name: string;
  readonly token: string;
}

export interface OperatorToken extends NamedToken, Operator {}

export type Tokens = ReturnType<typeof createTokens>;

/** The holder's name for a token without one. */
export const ONLY_OPERATOR = 'operator';
export const ONLY_VIEWER = 'viewer';

export const TOKEN_SENTENCE =
  'is not a valid token. Use at least 16 characters without spaces, commas and colons, for example the output of "openssl rand -hex 32". For several, use name:token, separated by commas.';

const NAMED = /^(?:([\p{L}\p{N}][\p{L}\p{N} ._@-]{0,39}):)?([\x21-\x2b\x2d-\x39\x3b-\x7e]{16,200})$/u;

/**
 * Parses one token, or a list of `name:token`.
 *
 * @param only the name of a single token without one
 * @returns undefined if the text is neither
 */
export function parseTokens(text: string, only: string): NamedToken[] | undefined {
  if (text === '') return [];
  const parts = text.split(',').map((part) => NAMED.exec(part.trim()));
  const tokens = parts.map((part) => ({ name: part?.[1]?.trim() ?? only, token: part?.[2] ?? '' }));
  const areSound = parts.every((part) => part && (part[1] !== undefined || parts.length === 1));
  return areSound ? tokens : undefined;
}

interface TokenSettings {
  readonly operatorTokens: readonly NamedToken[];
  readonly viewerTokens: readonly NamedToken[];
}

/**
 * Lists the tokens of OPERATOR_TOKEN and VIEWER_TOKEN.
 *
 * @throws ConfigError if a name or a token occurs twice
 */
export function listTokens({ operatorTokens, viewerTokens }: TokenSettings): OperatorToken[] {
  const tokens = [
    ...operatorTokens.map((named): OperatorToken => ({ ...named, role: 'operator' })),
    ...viewerTokens.map((named): OperatorToken => ({ ...named, role: 'viewer' })),
  ];
  const given = [new Set(tokens.map(({ name }) => name)), new Set(tokens.map(({ token }) => token))];
  if (given.every(({ size }) => size === tokens.length)) return tokens;
  throw new ConfigError([
    'The settings OPERATOR_TOKEN and VIEWER_TOKEN have a name or a token twice, so it is not clear who its holder is. Give each holder a different name and a different token.',
  ]);
}

/** The file in DATA_DIR with the token of a site without OPERATOR_TOKEN. */
const TOKEN_FILE = 'desk-token';

interface KeptToken extends NamedToken {
  /** Whether it was created just now. */
  readonly isNew: boolean;
}

/**
 * Returns the operator's token for a site without OPERATOR_TOKEN. The first start creates it, in a file of the data folder
 * that only its owner can read. If that fails, nobody can sign in.
 */
export function keepToken(
  dataDir: string,
  log: { error(fields: object, message: string): void },
): KeptToken | undefined {
  try {
    const kept = readKept(dataDir);
    if (kept) return { name: ONLY_OPERATOR, token: kept, isNew: false };
    const token = randomBytes(24).toString('base64url');
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(join(dataDir, TOKEN_FILE), `${token}\n`, { mode: 0o600 });
    return { name: ONLY_OPERATOR, token, isNew: true };
  } catch (error) {
    log.error(
      { err: error },
      `No operator can sign in, because the token could not be stored in the folder ${dataDir} (DATA_DIR). Make the folder writable or set OPERATOR_TOKEN, then restart.`,
    );
    return undefined;
  }
}

/** Returns the token that an earlier start created. @returns undefined if there is none */
export function readKeptToken(dataDir: string): NamedToken | undefined {
  const token = readKept(dataDir);
  return token ? { name: ONLY_OPERATOR, token } : undefined;
}

function readKept(dataDir: string): string | undefined {
  try {
    return readFileSync(join(dataDir, TOKEN_FILE), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export function createTokens(tokens: readonly OperatorToken[]) {
  const byName = new Map(tokens.map((token) => [token.name, token]));
  return {
    all: tokens,
    /** Finds a token in constant time. */
    find(candidate: string): OperatorToken | undefined {
      // Compares with all tokens, so that the time does not depend on the result.
      const [found] = tokens.filter(({ token }) => isSameText(token, candidate));
      return found;
    },
    named: (name: string) => byName.get(name),
  };
}

/**
 * A key of this process. Hashes made with it have the same length, and their timing reveals nothing about the texts.
 */
const KEY = randomBytes(32);

/** Compares two texts in constant time. */
export function isSameText(one: string, other: string): boolean {
  return timingSafeEqual(toHash(one), toHash(other));
}

function toHash(text: string): Buffer {
  return createHmac('sha256', KEY).update(text).digest();
}
