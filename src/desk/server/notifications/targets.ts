import { createHash, createHmac } from 'node:crypto';
import { loadSendMail, TARGET_TIME, toRetryAfterMs } from '#engine/tracker';
import type { SendResult } from '../store/notification-table.ts';
import type { NotificationTarget } from '../store/store-context.ts';
import { type Message, toJson, toMail } from './message.ts';
import type { MailSettings, NotifySettings } from './settings.ts';

/** A recipient of notifications. */
export interface Target extends NotificationTarget {
  /** Never rejects. */
  send(message: Message): Promise<SendResult>;
}

/** The headers that a receiver checks, see `docs/desk.md`. */
const TIMESTAMP_HEADER = 'X-Spillway-Timestamp';
const SIGNATURE_HEADER = 'X-Spillway-Signature';
/** The same in each attempt to send a message. */
const ID_HEADER = 'X-Spillway-Id';

export function createTargets({ webhooks, mail, webhookSecret }: NotifySettings): readonly Target[] {
  return [
    // Without its path, which is a secret for most receivers.
    ...webhooks.map((url, index) => ({
      id: toTargetId('webhook', url),
      name: `Webhook ${webhooks.length > 1 ? `${index + 1} ` : ''}${new URL(url).host}`,
      send: createPost(url, webhookSecret),
    })),
    ...(mail
      ? [
          {
            id: toTargetId('mail', mail.to.join(',')),
            name: `Mail to ${mail.to.join(', ')}`,
            send: createMailing(mail),
          },
        ]
      : []),
  ];
}

/** Returns an id of a target that is the same on all replicas and after a restart, and that reveals no secret. */
function toTargetId(kind: 'webhook' | 'mail', where: string): string {
  return createHash('sha256').update(`${kind} ${where}`).digest('hex').slice(0, 16);
}

function createMailing(mail: MailSettings): Target['send'] {
  const sendMail = loadSendMail(mail);
  return async (message) => {
    try {
      await sendMail({ uid: message.id, to: mail.to, ...toMail(message) });
      return { ok: true, words: 'The mail server accepted it.' };
    } catch (error) {
      return toMailFailure(error);
    }
  };
}

function createPost(url: string, secret: string | undefined): Target['send'] {
  return async (message) => {
    const body = toJson(message, Date.now());
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': 'Spillway',
      [ID_HEADER]: message.id,
      ...(secret !== undefined && sign(secret, body, Date.now())),
    };
    try {
      const signal = AbortSignal.timeout(TARGET_TIME);
      const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
      await response.body?.cancel();
      return toOutcome(response);
    } catch (error) {
      return toConnectFailure(error);
    }
  };
}

/**
 * Signs a message: HMAC-SHA256 over `<timestamp>.<body>`, so that an old message cannot be replayed as a new one.
 *
 * @param at milliseconds since 1970. The header has seconds
 */
function sign(secret: string, body: string, at: number): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at / 1000));
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  return { [TIMESTAMP_HEADER]: timestamp, [SIGNATURE_HEADER]: `sha256=${signature}` };
}

/** Statuses that can change without a change of the settings: a receiver that is not deployed yet, slow, or busy. */
const TEMPORARY = new Set([404, 408, 425, 429]);

function toOutcome({ status, headers }: Response): SendResult {
  const words = `It answered ${status}.`;
  if (status >= 200 && status < 300) return { ok: true, words };
  if (status >= 300 && status < 400)
    return toFinal(`${words} Redirects are not followed. Set WEBHOOK_URL to the final URL.`);
  if (status < 500 && !TEMPORARY.has(status))
    return toFinal(`${words} Check WEBHOOK_URL, and what the receiver expects.`);
  return { ok: false, words, retryAfter: toRetryAfterMs(headers.get('Retry-After')) };
}

/** A failure that is not tried again. */
function toFinal(words: string): SendResult {
  return { ok: false, isFinal: true, words };
}

function toConnectFailure(thrown: unknown): SendResult {
  // `fetch` wraps the error of the connection.
  const error = thrown instanceof TypeError && thrown.cause ? thrown.cause : thrown;
  if (error instanceof Error && error.name === 'TimeoutError')
    return { ok: false, words: 'It did not answer in time.' };
  if (error instanceof Error && error.message === 'bad port')
    return toFinal('The port of WEBHOOK_URL is one that HTTP clients block. Use another one.');
  const code = readCode(error);
  if (code === 'ETLS') return { ok: false, words: NO_TLS };
  // For mail, nodemailer replaces Node's error code.
  const isUntrusted = error instanceof Error && /certificate|altnames/i.test(error.message);
  const hint = isUntrusted ? ' Its certificate does not match its name, or its authority is unknown.' : '';
  return { ok: false, words: `It could not be reached (${code}).${hint}` };
}

const NO_TLS =
  'It does not offer TLS, and passwords are not sent unencrypted. Use smtps, or a mail server with STARTTLS.';

function toMailFailure(error: unknown): SendResult {
  const code = readCode(error);
  const status = error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : 0;
  if (code === 'ETLS' || status === 0) return toConnectFailure(error);
  const words =
    code === 'EAUTH'
      ? `The mail server rejected the sign-in (${status}). Check the user and the password in SMTP_URL.`
      : `The mail server refused it (${status}). Check MAIL_FROM and MAIL_TO.`;
  return { ok: false, isFinal: status >= 500, words };
}

function readCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^\w{1,60}$/.test(code) ? code : 'unknown reason';
}
