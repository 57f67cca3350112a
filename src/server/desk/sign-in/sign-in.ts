import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Minute } from '../../../shared/units.ts';
import { MAX_ATTEMPTS, MAX_ATTEMPTS_OF_ALL, SESSION_TIME } from '../limits.ts';
import type { Grant } from '../store/session-table.ts';
import type { OperatorToken, OperatorTokens, Role } from './operator-tokens.ts';
import type { SessionStore } from './session-store.ts';

/** Whoever looks at the desk. */
export interface Operator {
  readonly name: string;
  readonly role: Role;
}

/** How an attempt to sign in ended. */
export type SignedIn =
  | { readonly kind: 'signed-in'; readonly session: string }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'too-many'; readonly waitMs: number };

export interface SignIn {
  /** Who holds a session. @param session what the cookie says, whatever that is */
  identify(session: string): Promise<Operator | undefined>;
  /** @param sender whose attempts are counted together: a hash, no address */
  byToken(candidate: string, sender: string): Promise<SignedIn>;
  /** By a sign-in link, which is used up by it. Nobody guesses 256 bits, so nothing is counted. */
  byTicket(ticket: string): Promise<SignedIn>;
  /** Makes what a sign-in link holds, for the holder of a token. */
  makeTicket(name: string): Promise<string>;
  /** Ends a session for good. */
  end(session: string): Promise<void>;
}

export interface SignInOptions {
  readonly tokens: OperatorTokens;
  readonly sessions: SessionStore;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** 32 bytes in base64url: nothing else is looked up. */
const SECRET = /^[\w-]{43}$/;

/**
 * A session's secret is made at sign-in and never taken from a request, so that nobody can hand one
 * to somebody else in advance. The store knows it by its hash, and the token by a fingerprint that
 * this secret alone makes: a new token ends what the old one began, and whoever reads the store can
 * neither sign in nor try out tokens.
 */
export function createSignIn({ tokens, sessions, now = Date.now }: SignInOptions): SignIn {
  /** Until when nobody's token is looked at (ms since 1970). Kept here, so that a flood asks the store for nothing. */
  let closedUntil = 0;

  async function begin(token: OperatorToken): Promise<SignedIn> {
    const session = createSecret();
    await sessions.createSession(toHash(session), toGrant(session, token), SESSION_TIME);
    return { kind: 'signed-in', session };
  }

  /** The token that a grant stands for, if that is still the same. */
  function findToken(grant: Grant | undefined, secret: string): OperatorToken | undefined {
    const token = grant && tokens.named(grant.name);
    return token && areEqual(grant.fingerprint, toGrant(secret, token).fingerprint) ? token : undefined;
  }

  /** @returns when the next attempt is looked at, undefined for this one */
  async function countAttempt(sender: string): Promise<number | undefined> {
    if (now() < closedUntil) return closedUntil;
    // Counted before it is looked at, so that of many at once no more pass than of many in a row.
    const { ofSender, inTotal } = await sessions.countAttempt(sender);
    if (ofSender <= MAX_ATTEMPTS && inTotal <= MAX_ATTEMPTS_OF_ALL) return undefined;
    // One sender's own limit must not use up what there is for all.
    await sessions.forgiveAttempt(sender);
    const nextMinute = (Math.floor(now() / Minute) + 1) * Minute;
    if (inTotal > MAX_ATTEMPTS_OF_ALL) closedUntil = nextMinute;
    return nextMinute;
  }

  return {
    async identify(session) {
      if (!SECRET.test(session)) return undefined;
      const token = findToken(await sessions.readSession(toHash(session)), session);
      return token && { name: token.name, role: token.role };
    },

    async byToken(candidate, sender) {
      const nextAt = await countAttempt(sender);
      if (nextAt !== undefined) return { kind: 'too-many', waitMs: nextAt - now() };
      const token = tokens.find(candidate);
      if (!token) return { kind: 'wrong' };
      await sessions.forgiveAttempt(sender);
      return begin(token);
    },

    async byTicket(ticket) {
      if (!SECRET.test(ticket)) return { kind: 'wrong' };
      const token = findToken(await sessions.takeLink(toHash(ticket)), ticket);
      return token ? begin(token) : { kind: 'wrong' };
    },

    async makeTicket(name) {
      const token = tokens.named(name);
      if (!token) throw new Error(`There is no token of the name ${JSON.stringify(name)}.`);
      const ticket = createSecret();
      await sessions.createLink(toHash(ticket), toGrant(ticket, token));
      return ticket;
    },

    async end(session) {
      if (SECRET.test(session)) await sessions.endSession(toHash(session));
    },
  };
}

function createSecret(): string {
  return randomBytes(32).toString('base64url');
}

function toHash(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

function toGrant(secret: string, { name, role, token }: OperatorToken): Grant {
  const fingerprint = createHmac('sha256', secret).update(`${role} ${token}`).digest('base64url');
  return { name, role, fingerprint };
}

function areEqual(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.length === second.length && timingSafeEqual(first, second);
}
