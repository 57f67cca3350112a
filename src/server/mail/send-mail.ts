import { createTransport } from 'nodemailer';
import { TARGET_CONNECT_TIME, TARGET_TIME } from '../limits.ts';

/** One mail, as text and if you like as HTML too. */
export interface Mail {
  /** The same in each attempt, because many mailboxes drop duplicates. */
  readonly uid: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
}

/** Rejects if the mail server did not accept the mail, with nodemailer's `responseCode` if it gave a reason. */
export type SendMail = (mail: Mail) => Promise<void>;

export interface MailServer {
  /** `smtp://` or `smtps://`, with the credentials. */
  readonly smtpUrl: string;
  readonly from: string;
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '::1']);

/** The only file that imports nodemailer. It is a separate bundle, which is loaded only if mail is configured. */
export function createSendMail({ smtpUrl, from }: MailServer): SendMail {
  const url = new URL(smtpUrl);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const secure = url.protocol === 'smtps:';
  const { username, password } = url;
  const auth = username ? { user: decodeURIComponent(username), pass: decodeURIComponent(password) } : undefined;
  const transport = createTransport({
    host,
    port: Number(url.port) || (secure ? 465 : 587),
    secure,
    // A password is not sent unencrypted to another machine.
    requireTLS: auth !== undefined && !LOOPBACK.has(host),
    ...(auth && { auth }),
    dnsTimeout: TARGET_CONNECT_TIME,
    connectionTimeout: TARGET_CONNECT_TIME,
    greetingTimeout: TARGET_CONNECT_TIME,
    socketTimeout: TARGET_TIME,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return async ({ uid, to, ...content }) => {
    await transport.sendMail({
      from,
      to: [...to],
      ...content,
      messageId: `<${uid}@${from.slice(from.indexOf('@') + 1)}>`,
      headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    });
  };
}
