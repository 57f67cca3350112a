import { connect, type Socket } from 'node:net';
import { createTransport } from 'nodemailer';
import { TARGET_CONNECT_TIME, TARGET_TIME } from '../../limits.ts';
import type { AddressFinder, CheckedAddress } from './find-address.ts';
import { readLogin } from './read-login.ts';
import { LateTargetError, withinTime } from './within-time.ts';

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

/** The only file that imports nodemailer. It is a separate bundle, which is loaded only if mail is configured. */
export function createSendMail({ smtpUrl, from }: MailServer, addresses: AddressFinder): SendMail {
  const url = new URL(smtpUrl);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const secure = url.protocol === 'smtps:';
  const auth = url.username ? readLogin(url) : undefined;
  const port = Number(url.port) || (secure ? 465 : 587);

  return async ({ uid, to, ...content }) => {
    const [found] = await withinTime(TARGET_CONNECT_TIME, addresses.find(host));
    const socket = await open(found, port);
    const timer = setTimeout(() => socket.destroy(), MAIL_TIME);
    const transport = createTransport({
      connection: socket,
      host,
      port,
      secure,
      // A password is not sent unencrypted, except to a listed host, which is within the private network.
      requireTLS: auth !== undefined && !addresses.isListed(host),
      ...(auth && { auth }),
      greetingTimeout: TARGET_CONNECT_TIME,
      socketTimeout: TARGET_TIME,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    try {
      await transport.sendMail({
        from,
        to: [...to],
        ...content,
        messageId: `<${uid}@${from.slice(from.indexOf('@') + 1)}>`,
        headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
      });
    } finally {
      clearTimeout(timer);
      transport.close();
      socket.destroy();
    }
  };
}

/** The time limit of a mail (ms). It is shorter than its claim. */
const MAIL_TIME = 3 * TARGET_TIME;

/** Connects to a checked address, so that the name is not looked up again. */
function open(to: CheckedAddress | undefined, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: to?.address ?? '', port });
    const timer = setTimeout(() => socket.destroy(new LateTargetError()), TARGET_CONNECT_TIME);
    socket.once('close', () => clearTimeout(timer));
    socket.once('error', reject);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', reject);
      // nodemailer adds its listener only when it sends.
      socket.on('error', () => undefined);
      resolve(socket);
    });
  });
}
