import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto';
import type { OperatorToken } from '../../../server/front/tokens.ts';

/** Issues ids, and later recognizes them without asking the store. */
interface SignedIds {
  /** Makes a new id for the holder of a token. */
  make(token: OperatorToken): string;
  /**
   * Returns the token that an id was issued for, in constant time; `undefined` if the desk did not issue it. Only the
   * store knows whether the session or link is still valid.
   */
  read(id: string): OperatorToken | undefined;
}

/** 256 random bits, and the first 132 bits of their HMAC-SHA256, both in base64url. */
const SIGNED = /^([\w-]{43})\.([\w-]{22})$/;
const TAG_LENGTH = 22;

/**
 * The keys are derived from the tokens: none has to be stored, all replicas agree, and an id becomes invalid when its
 * token or the token's role changes.
 *
 * @param purpose an id for one purpose is not valid for another
 */
export function createSignedIds(tokens: readonly OperatorToken[], purpose: 'session' | 'link'): SignedIds {
  const keys = tokens.map((token) => {
    const key = createHmac('sha256', token.token).update(`spillway desk ${purpose} ${token.role}`).digest();
    return { token, key: createSecretKey(key) };
  });
  type Key = (typeof keys)[number]['key'];
  const toTag = (secret: string, key: Key): string =>
    createHmac('sha256', key).update(secret).digest('base64url').slice(0, TAG_LENGTH);
  return {
    make(token) {
      const signing = keys.find((known) => known.token === token);
      if (!signing) throw new Error(`The token of ${JSON.stringify(token.name)} is not configured.`);
      const secret = randomBytes(32).toString('base64url');
      return `${secret}.${toTag(secret, signing.key)}`;
    },
    read(id) {
      const [, secret, tag] = SIGNED.exec(id) ?? [];
      if (secret === undefined || tag === undefined) return undefined;
      const given = Buffer.from(tag);
      const fitting = keys.filter(({ key }) => timingSafeEqual(Buffer.from(toTag(secret, key)), given));
      return fitting[0]?.token;
    },
  };
}
