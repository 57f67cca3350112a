import type { NoticeOutcome } from '../store/claim-notice.ts';
import type { NoticeTarget } from '../store/notice-table.ts';
import { type AddressFinder, createAddressFinder, ForbiddenTargetError, type Lookup } from './find-address.ts';
import { listTargets, toFormat } from './list-targets.ts';
import type { Message } from './message.ts';
import { readRetryAfter } from './retry-after.ts';
import type { SendMail } from './send-mail.ts';
import { createSendRequest, type Reply, type SendRequest } from './send-request.ts';
import type { MailSettings, NotifySettings } from './settings.ts';
import { ID_HEADER, sign } from './sign.ts';
import { toMail } from './to-mail.ts';
import { toJsonBody, toSlackBody } from './to-webhook.ts';
import { LateTargetError } from './within-time.ts';

/** Somebody who is told. */
export interface Target extends NoticeTarget {
  /** Never rejects. */
  send(message: Message): Promise<NoticeOutcome>;
}

export interface TargetsOptions {
  readonly settings: NotifySettings;
  readonly resolve?: Lookup;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

export function createTargets({ settings, resolve, now = Date.now }: TargetsOptions): readonly Target[] {
  const addresses = createAddressFinder(settings.privateTargets, resolve);
  const sendRequest = createSendRequest({ addresses });
  const { webhooks, mail } = settings;
  const ways = [
    ...webhooks.map((url) => createPost({ settings, url, sendRequest, now })),
    ...(mail ? [createMailing(mail, addresses)] : []),
  ];
  return listTargets(settings).flatMap((target, index) => {
    const send = ways[index];
    return send ? [{ ...target, send }] : [];
  });
}

function createMailing(mail: MailSettings, addresses: AddressFinder): Target['send'] {
  let sendMail: Promise<SendMail> | undefined;
  return async (message) => {
    try {
      sendMail ??= import('./send-mail.ts').then(({ createSendMail }) => createSendMail(mail, addresses));
      await (await sendMail)({ uid: message.uid, ...toMail(message) });
      return { ok: true, words: 'The mail server took it.' };
    } catch (error) {
      return toMailFailure(error);
    }
  };
}

interface PostOptions {
  readonly settings: NotifySettings;
  readonly url: string;
  readonly sendRequest: SendRequest;
  readonly now: () => number;
}

function createPost({ settings, url, sendRequest, now }: PostOptions): Target['send'] {
  const format = toFormat(url, settings.webhookFormat);
  return async (message) => {
    const body = format === 'slack' ? toSlackBody(message) : toJsonBody(message, now());
    const headers = {
      'Content-Type': 'application/json',
      [ID_HEADER]: message.uid,
      ...(settings.webhookSecret !== undefined && sign(settings.webhookSecret, body, now())),
    };
    try {
      return toOutcome(await sendRequest(new URL(url), { method: 'POST', headers, body }), now());
    } catch (error) {
      return toConnectFailure(error);
    }
  };
}

/** Answers that another try would not change, and what to do about them. */
const FINAL: Readonly<Record<number, string>> = {
  400: 'Look whether WEBHOOK_FORMAT is what it takes.',
  401: 'Look at the secret and the address in WEBHOOK_URL.',
  403: 'Look at the secret and the address in WEBHOOK_URL.',
  405: 'Look at the address in WEBHOOK_URL.',
  410: 'It is gone for good: take it out of WEBHOOK_URL.',
  413: 'It takes no message of this size.',
  415: 'Look whether WEBHOOK_FORMAT is what it takes.',
  422: 'Look whether WEBHOOK_FORMAT is what it takes.',
};

/** Answers that may be another one the next time. */
const PASSING: Readonly<Record<number, string>> = {
  404: 'Look at the address in WEBHOOK_URL.',
  408: 'It waited for too long.',
  429: 'It wants fewer messages.',
};

function toOutcome({ status, retryAfter }: Reply, now: number): NoticeOutcome {
  if (status >= 200 && status < 300) return { ok: true, words: `It answered ${status}.` };
  if (status >= 300 && status < 400) {
    return {
      ok: false,
      isFinal: true,
      words: `It answered ${status}, a redirect, which is not followed. Set WEBHOOK_URL to where it leads.`,
    };
  }
  const hint = FINAL[status];
  if (hint !== undefined) return { ok: false, isFinal: true, words: `It answered ${status}. ${hint}` };
  const words = `It answered ${status}. ${PASSING[status] ?? 'That is a failure of its own: look at its log.'}`;
  return { ok: false, words, retryAfter: readRetryAfter(retryAfter, now) };
}

function toConnectFailure(error: unknown): NoticeOutcome {
  if (error instanceof ForbiddenTargetError) return { ok: false, isFinal: true, words: error.message };
  if (error instanceof LateTargetError) return { ok: false, words: error.message };
  const code = readCode(error);
  if (isUntrusted(error)) {
    return { ok: false, words: 'Its certificate is not for its name, or of no known authority (NODE_EXTRA_CA_CERTS).' };
  }
  return { ok: false, words: CODES[code] ?? `It could not be reached (${code}).` };
}

const CODES: Readonly<Record<string, string>> = {
  ENOTFOUND: 'Its name is not known to DNS. Look at the setting.',
  EAI_AGAIN: 'Its name could not be looked up: DNS did not answer.',
  ECONNREFUSED: 'It refused the connection. Look whether it runs, and at its port.',
  ECONNRESET: 'It cut the connection.',
  ECONNECTION: 'It cut the connection.',
  ETIMEDOUT: 'It did not answer in time.',
  ETLS: 'It offers no TLS, and no password is sent without: use smtps, or list it in NOTIFY_PRIVATE_TARGETS if it is your own.',
};

function toMailFailure(error: unknown): NoticeOutcome {
  const code = readCode(error);
  const status = error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : 0;
  if (code === 'EAUTH') {
    return {
      ok: false,
      isFinal: status >= 500,
      words: `The mail server did not let us in (${status}). Look at the user and the password in SMTP_URL.`,
    };
  }
  if (code === 'ETLS') return toConnectFailure(error);
  if (status >= 500) {
    return {
      ok: false,
      isFinal: true,
      words: `The mail server refused it (${status}). Look at MAIL_FROM and MAIL_TO.`,
    };
  }
  if (status > 0)
    return {
      ok: false,
      words: `The mail server cannot take it at the moment (${status}). Try again later, or look at its log.`,
    };
  return toConnectFailure(error);
}

/** The same of HTTPS and of mail, where nodemailer has put a code of its own in the place of Node's. */
function isUntrusted(error: unknown): boolean {
  return error instanceof Error && /certificate|altnames/i.test(error.message);
}

function readCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^\w{1,60}$/.test(code) ? code : 'for no known reason';
}
