import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { toNetwork } from './special-addresses.ts';

export type WebhookFormat = 'json' | 'slack';

/** Everything that telling rests on, secrets too: plain data, because it goes to the desk worker. */
export interface NotifySettings {
  readonly webhooks: readonly string[];
  /** Undefined: Slack's own hosts get what Slack takes, the others JSON. */
  readonly webhookFormat: WebhookFormat | undefined;
  readonly webhookSecret: string | undefined;
  /** Undefined where nothing is mailed. */
  readonly mail: MailSettings | undefined;
  /** Nothing is told of an incident before it happened so often (a count). */
  readonly after: number;
  /** Names, addresses and networks that may be reached although they are not public. */
  readonly privateTargets: readonly string[];
  readonly heartbeatUrl: string | undefined;
  /** Where the desk is found from outside; undefined where nobody said so. */
  readonly deskOrigin: string | undefined;
  readonly environment: string;
}

export interface MailSettings {
  /** `smtp://` or `smtps://`, with what signs in. */
  readonly smtpUrl: string;
  readonly from: string;
  readonly to: readonly string[];
}

/** One or several, separated by commas. @returns undefined where one of them is none */
export function parseHttpUrls(text: string): string[] | undefined {
  // A comma may stand in an address too.
  const urls = text === '' ? [] : text.split(/\s*,\s*(?=https?:\/\/)/i);
  return urls.every(isHttpUrl) ? [...new Set(urls)] : undefined;
}

function isHttpUrl(text: string): boolean {
  const url = parseUrl(text);
  // Nothing signs in by an address: what is posted is signed.
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

function parseUrl(text: string): URL | null {
  return /\s/.test(text) ? null : URL.parse(text);
}

/** `smtps://user:password@mail.example.com`: the port is 465 with TLS from the start, else 587. */
export function parseSmtpUrl(text: string): string | undefined {
  const url = parseUrl(text);
  const isSmtp = url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== '';
  const isPlain = isSmtp && /^\/?$/.test(url.pathname) && url.search === '' && url.hash === '';
  return isPlain && (url.password === '' || url.username !== '') && readLogin(url) ? text : undefined;
}

/** What signs in, as it was before it was put into an address. @returns undefined where it cannot be read */
export function readLogin({ username, password }: URL): { readonly user: string; readonly pass: string } | undefined {
  try {
    return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  } catch {
    return undefined;
  }
}

const ADDRESS = /^[^\s@,;:<>()[\]\\"']{1,64}@[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?$/i;

/** `desk@example.com` */
export function parseMailAddress(text: string): string | undefined {
  return ADDRESS.test(text) ? text : undefined;
}

/** Several, separated by commas. */
export function parseMailAddresses(text: string): string[] | undefined {
  const parts = splitList(text);
  return parts.every((part) => ADDRESS.test(part)) ? parts : undefined;
}

/** Hosts without a port, addresses, networks. */
export function parsePrivateTargets(text: string): string[] | undefined {
  const parts = splitList(text);
  return parts.every((part) => toNetwork(part) !== undefined || isHostName(part)) ? parts : undefined;
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function isHostName(text: string): boolean {
  return isIP(text) === 0 && /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/i.test(text) && !/^[\d.]+$/.test(text);
}

/** What names a target on all replicas and after a restart, and tells nothing of what is secret in it. */
export function toTargetId(kind: 'webhook' | 'mail', where: string): string {
  return createHash('sha256').update(`${kind} ${where}`).digest('hex').slice(0, 16);
}
