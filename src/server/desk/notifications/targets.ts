import { toRetryAfterMs } from '../../../shared/engine/retry.ts';
import {
  type AddressFinder,
  createAddressFinder,
  ForbiddenTargetError,
  type Lookup,
} from '../../engine/outgoing/find-address.ts';
import { loadSendMail } from '../../engine/outgoing/mailer.ts';
import { LateTargetError } from '../../engine/outgoing/within-time.ts';
import type { NotificationResult } from '../store/notifications/claim-notification.ts';
import type { NotificationTarget } from '../store/notifications/notification-rules.ts';
import { listTargets, toFormat } from './list-targets.ts';
import type { Message } from './message.ts';
import { createSendRequest, type Reply, type SendRequest } from './send-request.ts';
import type { MailSettings, NotifySettings } from './settings.ts';
import { ID_HEADER, sign } from './sign.ts';
import { toMail } from './to-mail.ts';
import { toJsonBody, toSlackBody } from './to-webhook.ts';

/** A recipient of notifications. */
export interface Target extends NotificationTarget {
  /** Never rejects. */
  send(message: Message): Promise<NotificationResult>;
  /** When it gets a summary of the last day (ms since midnight, UTC). */
  readonly summaryAt?: number | undefined;
}

export interface TargetsOptions {
  readonly settings: NotifySettings;
  readonly resolve?: Lookup;
}

export function createTargets({ settings, resolve }: TargetsOptions): readonly Target[] {
  const addresses = createAddressFinder(settings.privateTargets, resolve);
  const sendRequest = createSendRequest({ addresses });
  const { webhooks, mail } = settings;
  const mailTo = (...to: string[]) => (mail && to.length > 0 ? [createMailing({ ...mail, to }, addresses)] : []);
  const ways = [
    ...webhooks.map((url) => ({ send: createPost({ settings, url, sendRequest }) })),
    ...mailTo(...(mail?.to ?? [])).map((send) => ({ send, summaryAt: mail?.summaryAt })),
    ...Object.values(mail?.people ?? {}).flatMap((address) => mailTo(address).map((send) => ({ send }))),
  ];
  return listTargets(settings).flatMap((target, index) => {
    const way = ways[index];
    return way ? [{ ...target, ...way }] : [];
  });
}

function createMailing(mail: MailSettings, addresses: AddressFinder): Target['send'] {
  const sendMail = loadSendMail(mail, addresses);
  return async (message) => {
    try {
      await sendMail({ uid: message.uid, to: mail.to, ...toMail(message) });
      return { ok: true, words: 'The mail server accepted it.' };
    } catch (error) {
      return toMailFailure(error);
    }
  };
}

interface PostOptions {
  readonly settings: NotifySettings;
  readonly url: string;
  readonly sendRequest: SendRequest;
}

function createPost({ settings, url, sendRequest }: PostOptions): Target['send'] {
  const format = toFormat(url, settings.webhookFormat);
  return async (message) => {
    const body = format === 'slack' ? toSlackBody(message) : toJsonBody(message, Date.now());
    const headers = {
      'Content-Type': 'application/json',
      [ID_HEADER]: message.uid,
      ...(settings.webhookSecret !== undefined && sign(settings.webhookSecret, body, Date.now())),
    };
    try {
      return toOutcome(await sendRequest(new URL(url), { method: 'POST', headers, body }));
    } catch (error) {
      return toConnectFailure(error);
    }
  };
}

/** What to do about a response, by its status. The final ones are not tried again. */
const HINTS: Readonly<Record<number, { readonly hint: string; readonly isFinal?: true }>> = {
  400: { hint: 'Check that WEBHOOK_FORMAT matches the receiver.', isFinal: true },
  401: { hint: 'Check the URL in WEBHOOK_URL and the secret in it.', isFinal: true },
  403: { hint: 'Check the URL in WEBHOOK_URL and the secret in it.', isFinal: true },
  404: { hint: 'Check the URL in WEBHOOK_URL.' },
  405: { hint: 'Check the URL in WEBHOOK_URL.', isFinal: true },
  408: { hint: 'The receiver timed out.' },
  410: { hint: 'The receiver is gone permanently. Remove it from WEBHOOK_URL.', isFinal: true },
  413: { hint: 'The message is too large for the receiver.', isFinal: true },
  415: { hint: 'Check that WEBHOOK_FORMAT matches the receiver.', isFinal: true },
  422: { hint: 'Check that WEBHOOK_FORMAT matches the receiver.', isFinal: true },
  429: { hint: 'The receiver limits the rate of messages.' },
};

function toOutcome({ status, retryAfter }: Reply): NotificationResult {
  if (status >= 200 && status < 300) return { ok: true, words: `It answered ${status}.` };
  if (status >= 300 && status < 400) {
    return toFinal(`It answered ${status}, a redirect, which is not followed. Set WEBHOOK_URL to the final URL.`);
  }
  const { hint, isFinal } = HINTS[status] ?? { hint: 'The receiver failed. Check its log.' };
  const words = `It answered ${status}. ${hint}`;
  return isFinal ? toFinal(words) : { ok: false, words, retryAfter: toRetryAfterMs(retryAfter ?? null) };
}

/** A failure that is not tried again. */
function toFinal(words: string): NotificationResult {
  return { ok: false, isFinal: true, words };
}

function toConnectFailure(error: unknown): NotificationResult {
  if (error instanceof ForbiddenTargetError) return toFinal(error.message);
  if (error instanceof LateTargetError) return { ok: false, words: error.message };
  const code = readCode(error);
  if (isUntrusted(error)) {
    return {
      ok: false,
      words: 'Its certificate does not match its name, or its authority is unknown (see NODE_EXTRA_CA_CERTS).',
    };
  }
  return { ok: false, words: CODES[code] ?? `It could not be reached (${code}).` };
}

const CODES: Readonly<Record<string, string>> = {
  ENOTFOUND: 'DNS does not know its name. Check the setting.',
  EAI_AGAIN: 'Its name could not be looked up, because DNS did not answer.',
  ECONNREFUSED: 'It refused the connection. Check that it is running, and check the port.',
  ECONNRESET: 'It closed the connection.',
  ECONNECTION: 'It closed the connection.',
  ETIMEDOUT: 'It did not answer in time.',
  ETLS: 'It does not offer TLS, and passwords are not sent unencrypted. Use smtps, or list the host in NOTIFY_PRIVATE_TARGETS if it is in your private network.',
};

function toMailFailure(error: unknown): NotificationResult {
  const code = readCode(error);
  const status = error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : 0;
  if (code === 'EAUTH') {
    return {
      ok: false,
      isFinal: status >= 500,
      words: `The mail server rejected the sign-in (${status}). Check the user and the password in SMTP_URL.`,
    };
  }
  if (code !== 'ETLS' && status >= 500) {
    return toFinal(`The mail server refused it (${status}). Check MAIL_FROM and MAIL_TO.`);
  }
  if (code !== 'ETLS' && status > 0) {
    const words = `The mail server cannot accept it at the moment (${status}). Try again later, or check its log.`;
    return { ok: false, words };
  }
  return toConnectFailure(error);
}

/** Covers HTTPS and mail. For mail, nodemailer replaces Node's error code. */
function isUntrusted(error: unknown): boolean {
  return error instanceof Error && /certificate|altnames/i.test(error.message);
}

function readCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^\w{1,60}$/.test(code) ? code : 'unknown reason';
}
