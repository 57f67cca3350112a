import { decodePercent } from '../request/paths.ts';
import type { MailServer, SendMail } from './send-mail.ts';

/** Sends mail through a server. The code for it is loaded with the first mail. */
export function loadSendMail(server: MailServer): SendMail {
  let loaded: Promise<SendMail> | undefined;
  return async (mail) => {
    loaded ??= import('./send-mail.ts').then(({ createSendMail }) => createSendMail(server));
    return (await loaded)(mail);
  };
}

interface MailSettings {
  readonly smtpUrl?: string | undefined;
  readonly mailFrom?: string | undefined;
}

/**
 * Returns a function that sends mail through `SMTP_URL` from `MAIL_FROM`; undefined if they are not set. If it rejects, the
 * `cause` is nodemailer's error.
 */
export function createMailer({ smtpUrl, mailFrom }: MailSettings): SendMail | undefined {
  if (smtpUrl === undefined || mailFrom === undefined) return undefined;
  const sendMail = loadSendMail({ smtpUrl, from: mailFrom });
  return async (mail) => {
    try {
      await sendMail(mail);
    } catch (cause) {
      // Nodemailer's error is made in an event of the socket. This one has the caller in its stack.
      const { responseCode, code = 'no code' } = cause as { responseCode?: number; code?: string };
      throw new Error(`The mail could not be sent (${responseCode ?? code}).`, { cause });
    }
  };
}

/** Returns null for an invalid URL, or one with blanks. */
export function parseUrl(text: string): URL | null {
  return /\s/.test(text) ? null : URL.parse(text);
}

/**
 * Checks a URL such as `smtps://user:password@mail.example.com`. The default port is 465 with TLS from the start, else
 * 587.
 */
export function parseSmtpUrl(text: string): string | undefined {
  const url = parseUrl(text);
  const isSmtp = url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== '';
  const isPlain = isSmtp && /^\/?$/.test(url.pathname) && url.search === '' && url.hash === '';
  return isPlain && (url.password === '' || url.username !== '') && isDecodable(url) ? text : undefined;
}

export const MAIL_ADDRESS = /^[^\s@,;:<>()[\]\\"']{1,64}@[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?$/i;

/** `shop@example.com` */
export function parseMailAddress(text: string): string | undefined {
  return MAIL_ADDRESS.test(text) ? text : undefined;
}

function isDecodable({ username, password }: URL): boolean {
  return decodePercent(username) !== undefined && decodePercent(password) !== undefined;
}
