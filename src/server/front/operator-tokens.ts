import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** *Viewers* can only read. *Operators* can also change things. */
export type Role = 'viewer' | 'operator';

/** A person with a token. */
export interface Operator {
  readonly name: string;
  readonly role: Role;
}

/** A token with the name of its holder, which is recorded with each change. */
export interface NamedToken {
  readonly name: string;
  readonly token: string;
}

export interface OperatorToken extends NamedToken, Operator {}

export interface OperatorTokens {
  readonly all: readonly OperatorToken[];
  /** Finds a token in constant time. */
  find(candidate: string): OperatorToken | undefined;
  named(name: string): OperatorToken | undefined;
}

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
  const areDifferent = [tokens.map(({ name }) => name), tokens.map(({ token }) => token)].every(hasNoDouble);
  return areSound && areDifferent ? tokens : undefined;
}

export function hasNoDouble(texts: readonly string[]): boolean {
  return new Set(texts).size === texts.length;
}

export function createOperatorTokens(tokens: readonly OperatorToken[]): OperatorTokens {
  const byName = new Map(tokens.map((token) => [token.name, token]));
  return {
    all: tokens,
    find(candidate) {
      // Compares with all tokens, so that the time does not depend on the result.
      const [found] = tokens.filter(({ token }) => isSameText(token, candidate));
      return found;
    },
    named: (name) => byName.get(name),
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
