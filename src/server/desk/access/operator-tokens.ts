import { isSameText } from './same-text.ts';

/** *Viewers* look, *operators* change things too. */
export type Role = 'viewer' | 'operator';

/** Somebody who is signed in to the desk. */
export interface Operator {
  readonly name: string;
  readonly role: Role;
}

/** A token with its holder's name, which stands beside what is changed with it. */
export interface NamedToken {
  readonly name: string;
  readonly token: string;
}

export interface OperatorToken extends NamedToken, Operator {}

export interface OperatorTokens {
  readonly all: readonly OperatorToken[];
  /** Whose token this is. It takes as long for a wrong one as for a right one. */
  find(candidate: string): OperatorToken | undefined;
  named(name: string): OperatorToken | undefined;
}

/** The name that stands beside the changes of a token without one. */
export const ONLY_OPERATOR = 'operator';
export const ONLY_VIEWER = 'viewer';

export const TOKEN_SENTENCE =
  'is no token. Use at least 16 characters without blanks, commas and colons, such as what "openssl rand -hex 32" prints, or several as name:token, separated by commas.';

const NAMED = /^(?:([\p{L}\p{N}][\p{L}\p{N} ._@-]{0,39}):)?([\x21-\x2b\x2d-\x39\x3b-\x7e]{16,200})$/u;

/**
 * Reads one token, or a list of `name:token`.
 *
 * @param only the name of a token that stands alone
 * @returns undefined for what is neither
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
      // All are compared, so that the time does not depend on which one fits.
      const [found] = tokens.filter(({ token }) => isSameText(token, candidate));
      return found;
    },
    named: (name) => byName.get(name),
  };
}
