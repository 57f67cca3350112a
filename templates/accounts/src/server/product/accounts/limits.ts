import { createHash } from 'node:crypto';
import { publicError } from '#engine';
import { type ApiStore, conflict } from '#engine/server';

/**
 * Limits of attempts in 15 minutes. A limit that counts only by account would let strangers lock its owner out.
 */
const SIGN_INS = { perSender: 50, perAccount: 10 };
const MAILS = { perSender: 20, perAccount: 5 };
/** Strangers can send so many mails to an address in an hour. Its owner then has a link that works. */
const MAILS_TO_ADDRESS = 10;

const MINUTE = 60 * 1000;

const TOO_MANY = 429;

/** Shows the message of a limit in the form of the action. Elsewhere it is a page of its own. */
export function limited<Args, Answer>(action: (args: Args) => Promise<Answer>) {
  return async function limitedAction(args: Args) {
    try {
      return await action(args);
    } catch (error) {
      if (error instanceof Error && 'status' in error && error.status === TOO_MANY) {
        return conflict({ errors: { '': error.message } });
      }
      throw error;
    }
  };
}

export interface Limits {
  /** Counts an attempt to sign in, before its result is known. Ends the action after too many: wrap it in `limited()`. */
  signIn(email: string): Promise<void>;
  /** The same for a mail. @returns false if the address got too many mails from anyone, and must not get another one */
  mail(email: string): Promise<boolean>;
}

/** @param sender the visitor's network address */
export function createLimits(counts: ApiStore, sender: string): Limits {
  /** Stores only a hash, because the texts have addresses. */
  async function count(text: string, minutes = 15): Promise<number> {
    const length = minutes * MINUTE;
    const startsAt = Math.floor(Date.now() / length) * length;
    const key = createHash('sha256').update(text).digest('hex');
    return counts.count(key, { startsAt, endsAt: startsAt + length });
  }

  async function limit(what: string, email: string, { perSender, perAccount }: typeof SIGN_INS): Promise<void> {
    const isAllowed =
      (await count(`${what} from ${sender}`)) <= perSender &&
      (await count(`${what} from ${sender} for ${email}`)) <= perAccount;
    if (!isAllowed) publicError(TOO_MANY, 'There were too many attempts. Wait 15 minutes, then try again.');
  }

  return {
    signIn: (email) => limit('sign-in', email, SIGN_INS),
    async mail(email) {
      await limit('mail', email, MAILS);
      return (await count(`mail to ${email}`, 60)) <= MAILS_TO_ADDRESS;
    },
  };
}
