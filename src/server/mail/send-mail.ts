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
  /** Such as `List-Unsubscribe`: up to 20 of up to 900 ASCII characters. The mail's own cannot be replaced. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Rejects if the mail server did not accept the mail. Nodemailer's error has its `responseCode` if it gave a reason. */
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
  return async ({ uid, to, headers = {}, ...content }) => {
    requireHeaders(headers);
    await transport.sendMail({
      from,
      to: [...to],
      ...content,
      messageId: `<${uid}@${from.slice(from.indexOf('@') + 1)}>`,
      headers: { ...headers, 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    });
  };
}

const MAX_HEADERS = 20;
const HEADER_NAME = /^[a-z0-9-]{1,70}$/i;
/** Without line breaks, which would begin another header. With its name, it fits into the 998 characters of a line. */
const HEADER_VALUE = /^[\x20-\x7e]{1,900}$/;
/** nodemailer makes them of the mail itself. Another `Bcc` would add recipients. */
const OWN_HEADER =
  /^(?:from|sender|to|cc|bcc|subject|date|message-id|mime-version|content-.*|auto-submitted|x-auto-response-suppress)$/i;

function requireHeaders(headers: Readonly<Record<string, string>>): void {
  const entries = Object.entries(headers);
  if (entries.length > MAX_HEADERS) throw new Error(`A mail can have at most ${MAX_HEADERS} additional headers.`);
  for (const [name, value] of entries) {
    if (!HEADER_NAME.test(name) || OWN_HEADER.test(name) || !HEADER_VALUE.test(value))
      throw new Error(
        `The mail header ${JSON.stringify(name)} cannot be sent: its name is not free, or its value is not one line of up to 900 ASCII characters.`,
      );
  }
}
