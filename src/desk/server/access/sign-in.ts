import { createHash, createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto';
import type { CheckToken, Operator, OperatorToken, Tokens } from '#engine/tracker';
import { LINK_TIME, SESSION_TIME } from '../desk-limits.ts';
import type { DeskCalls } from '../worker/desk-calls.ts';

/** The result of a sign-in. */
export type SignedIn =
  | { readonly kind: 'signed-in'; readonly session: string }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'too-many'; readonly waitMs: number };

/** The part of the store that sign-in needs. All replicas share it. */
type SessionStore = Pick<DeskCalls, 'storeSession' | 'hasSession' | 'endSession'>;

export type SignIn = ReturnType<typeof createSignIn>;

interface SignInOptions {
  readonly tokens: Tokens;
  readonly sessions: SessionStore;
  readonly checkToken: CheckToken;
}

/**
 * Signs operators in. The id of a session is made at sign-in and never taken from a request, so that an attacker cannot
 * plant one in advance. It is signed with the token, so that a new token ends the sessions of the old one. The store has
 * only a hash of the id, so a reader of the store can neither sign in nor try out tokens.
 */
export function createSignIn({ tokens, sessions, checkToken }: SignInOptions) {
  const sessionIds = createSignedIds(tokens.all, 'session');
  const linkIds = createSignedIds(tokens.all, 'link');

  async function begin(token: OperatorToken): Promise<SignedIn> {
    const session = sessionIds.make(token);
    await sessions.storeSession(toHash(session), SESSION_TIME);
    return { kind: 'signed-in', session };
  }

  return {
    /**
     * Checks only the signature of a session id: this desk issued it, but the session may have ended. Do not use it for
     * authorization.
     */
    isIssued: (session: string): boolean => sessionIds.read(session) !== undefined,

    /** Returns the holder of a session. An id that this desk did not issue is rejected without the store. */
    async identify(session: string): Promise<Operator | undefined> {
      const token = sessionIds.read(session);
      if (!token || !(await sessions.hasSession(toHash(session)))) return undefined;
      return { name: token.name, role: token.role };
    },

    /** @param address of the sender, whose wrong tokens are counted */
    async byToken(candidate: string, address: string): Promise<SignedIn> {
      const checked = checkToken(candidate, address);
      return checked.kind === 'known' ? begin(checked.token) : checked;
    },

    /** Uses up a sign-in link. Its id is signed, so attempts need not be counted. */
    async byTicket(ticket: string): Promise<SignedIn> {
      const token = linkIds.read(ticket);
      const isValid = token !== undefined && (await sessions.endSession(toHash(ticket)));
      return isValid ? begin(token) : { kind: 'wrong' };
    },

    async end(session: string): Promise<void> {
      if (sessionIds.read(session)) await sessions.endSession(toHash(session));
    },
  };
}

/**
 * Makes the ticket of a sign-in link for the holder of a token.
 *
 * @throws Error if no token has this name
 * @throws StoreAwayError
 */
export async function makeTicket(
  tokens: Tokens,
  sessions: Pick<SessionStore, 'storeSession'>,
  name: string,
): Promise<string> {
  const token = tokens.named(name);
  if (!token) throw new Error(`No token has the name ${JSON.stringify(name)}.`);
  const ticket = createSignedIds(tokens.all, 'link').make(token);
  await sessions.storeSession(toHash(ticket), LINK_TIME);
  return ticket;
}

function toHash(id: string): string {
  return createHash('sha256').update(id).digest('base64url');
}

/** 256 random bits, and the first 132 bits of their HMAC-SHA256, both in base64url. */
const SIGNED = /^([\w-]{43})\.([\w-]{22})$/;
const TAG_LENGTH = 22;

/**
 * Issues ids, and later recognizes them without asking the store. The keys are derived from the tokens: none has to be
 * stored, all replicas agree, and an id becomes invalid when its token, or the token's role or name, changes.
 *
 * @param purpose an id for one purpose is not valid for another
 */
function createSignedIds(tokens: readonly OperatorToken[], purpose: 'session' | 'link') {
  const keys = tokens.map((token) => {
    const words = `spillway desk ${purpose} ${token.role} ${token.name}`;
    return { token, key: createSecretKey(createHmac('sha256', token.token).update(words).digest()) };
  });
  type Key = (typeof keys)[number]['key'];
  const toTag = (secret: string, key: Key): string =>
    createHmac('sha256', key).update(secret).digest('base64url').slice(0, TAG_LENGTH);
  return {
    /** Makes a new id for the holder of a token. */
    make(token: OperatorToken): string {
      const signing = keys.find((known) => known.token === token);
      if (!signing) throw new Error(`The token of ${JSON.stringify(token.name)} is not configured.`);
      const secret = randomBytes(32).toString('base64url');
      return `${secret}.${toTag(secret, signing.key)}`;
    },
    /**
     * Returns the token that an id was issued for, in constant time; `undefined` if the desk did not issue it. Only the
     * store knows whether the session or link is still valid.
     */
    read(id: string): OperatorToken | undefined {
      const [, secret, tag] = SIGNED.exec(id) ?? [];
      if (secret === undefined || tag === undefined) return undefined;
      const given = Buffer.from(tag);
      const fitting = keys.filter(({ key }) => timingSafeEqual(Buffer.from(toTag(secret, key)), given));
      return fitting[0]?.token;
    },
  };
}
