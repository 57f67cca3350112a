import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Minute } from '../../../shared/units.ts';
import { MAX_TRIES, MAX_TRIES_OF_ALL, SESSION_TIME, TICKET_TIME } from '../limits.ts';
import type { Pass } from '../store/pass-table.ts';
import type { OperatorToken, OperatorTokens, Role } from './operator-tokens.ts';
import type { PassStore } from './pass-store.ts';

/** Whoever looks at the desk. */
export interface Operator {
  readonly name: string;
  readonly role: Role;
}

/** How a try to sign in ended. */
export type SignedIn =
  | { readonly kind: 'signed-in'; readonly session: string }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'too-many'; readonly waitMs: number };

export interface SignIn {
  /** Who holds a session. @param session what the cookie says, whatever that is */
  identify(session: string): Promise<Operator | undefined>;
  /** @param sender whose tries are counted together: a hash, no address */
  byToken(candidate: string, sender: string): Promise<SignedIn>;
  /** By a sign-in link, which is used up by it. */
  byTicket(ticket: string, sender: string): Promise<SignedIn>;
  /** Makes what a sign-in link holds, for the holder of a token. */
  makeTicket(name: string): Promise<string>;
  /** Ends a session for good. */
  end(session: string): Promise<void>;
}

export interface SignInOptions {
  readonly tokens: OperatorTokens;
  readonly passes: PassStore;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** 32 bytes in base64url: nothing else is looked up. */
const SECRET = /^[\w-]{43}$/;

/**
 * A session's secret is made at sign-in and never taken from a request, so that nobody can hand one
 * to somebody else in advance. The store knows it by its hash, with a mark that only this secret and
 * the token as it is make: a new token ends what the old one began.
 */
export function createSignIn({ tokens, passes, now = Date.now }: SignInOptions): SignIn {
  async function issue(kind: Pass['kind'], token: OperatorToken, lifetime: number): Promise<string> {
    const secret = randomBytes(32).toString('base64url');
    const mark = toMark(secret, token);
    const pass: Pass = { kind, key: toKey(secret), name: token.name, mark, endsAt: now() + lifetime };
    await passes.storePass(pass, now());
    return secret;
  }

  /** The token that a pass stands for, if that is still the same. */
  function findToken(pass: Pass | undefined, secret: string): OperatorToken | undefined {
    const token = pass && tokens.named(pass.name);
    return token && areEqual(pass.mark, toMark(secret, token)) ? token : undefined;
  }

  async function tryTo(
    find: () => Promise<OperatorToken | undefined>,
    sender: string,
    most: number,
  ): Promise<SignedIn> {
    const minute = Math.floor(now() / Minute);
    const { own, all } = await passes.countTry(sender, minute);
    if (own > MAX_TRIES || all > most) return { kind: 'too-many', waitMs: (minute + 1) * Minute - now() };
    const token = await find();
    if (!token) return { kind: 'wrong' };
    await passes.forgiveTry(sender, minute);
    return { kind: 'signed-in', session: await issue('session', token, SESSION_TIME) };
  }

  return {
    async identify(session) {
      if (!SECRET.test(session)) return undefined;
      const token = findToken(await passes.findPass('session', toKey(session), now()), session);
      return token && { name: token.name, role: token.role };
    },

    byToken: (candidate, sender) => tryTo(async () => tokens.find(candidate), sender, MAX_TRIES_OF_ALL),

    byTicket(ticket, sender) {
      async function use(): Promise<OperatorToken | undefined> {
        if (!SECRET.test(ticket)) return undefined;
        return findToken(await passes.takePass('ticket', toKey(ticket), now()), ticket);
      }
      // Nobody guesses 256 bits: a link is the way in while somebody else uses up everyone's tries.
      return tryTo(use, sender, Number.POSITIVE_INFINITY);
    },

    async makeTicket(name) {
      const token = tokens.named(name);
      if (!token) throw new Error(`There is no token of the name ${JSON.stringify(name)}.`);
      return issue('ticket', token, TICKET_TIME);
    },

    async end(session) {
      if (SECRET.test(session)) await passes.takePass('session', toKey(session), now());
    },
  };
}

function toKey(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

function toMark(secret: string, { token, role }: OperatorToken): string {
  return createHmac('sha256', secret).update(`${role} ${token}`).digest('base64url');
}

function areEqual(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.length === second.length && timingSafeEqual(first, second);
}
