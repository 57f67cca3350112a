import type { SendMail } from '#engine/server';
import type { Database } from '../database/tables.ts';
import { createLink } from './links.ts';
import { hasUser } from './users.ts';

interface Options {
  readonly db: Database;
  readonly sendMail: SendMail;
  /** Such as `https://example.com`. */
  readonly origin: string;
  /** The same in each attempt. */
  readonly uid: string;
}

/**
 * Mails a link to choose a password, for sign-up and for a forgotten password. It is a background job, so that the
 * response takes the same time whether or not there is an account.
 */
export async function sendAccountLink(email: string, { db, sendMail, origin, uid }: Options): Promise<void> {
  const isKnown = await hasUser(db, email);
  const link = `${origin}/choose-password/${await createLink(db, email)}`;
  const [subject, why] = isKnown
    ? ['Choose a new password', 'You have an account with this email address. Use this link to choose a new password:']
    : ['Confirm your email address', 'Use this link to confirm your email address and to choose a password:'];
  const end = 'The link works once, within an hour. If you did not ask for it, ignore this mail: nothing changes.';
  await sendMail({ uid, to: [email], subject, text: `${why}\n\n${link}\n\n${end}\n` });
}
