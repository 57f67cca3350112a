import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { readLogin } from '../../engine/outgoing/read-login.ts';
import type { MailServer } from '../../engine/outgoing/send-mail.ts';
import { toNetwork } from '../../engine/outgoing/special-addresses.ts';

export type WebhookFormat = 'json' | 'slack';

/** Everything that notifications need, secrets included. It is plain data, because it is sent to the desk worker. */
export interface NotifySettings {
  readonly webhooks: readonly string[];
  /** Undefined: Slack's format for Slack's own hosts, JSON for others. */
  readonly webhookFormat: WebhookFormat | undefined;
  readonly webhookSecret: string | undefined;
  /** Undefined if mail is not configured. */
  readonly mail: MailSettings | undefined;
  /** How often an incident must happen before its first notification (a count). */
  readonly after: number;
  /** Names, addresses and networks that are allowed although they are not public. */
  readonly privateTargets: readonly string[];
  readonly heartbeatUrl: string | undefined;
  /** The public origin of the desk; undefined if it is not configured. */
  readonly deskOrigin: string | undefined;
  readonly environment: string;
}

export interface MailSettings extends MailServer {
  readonly to: readonly string[];
}

/** Parses one or several URLs, separated by commas. @returns undefined if one is invalid */
export function parseHttpUrls(text: string): string[] | undefined {
  // A URL can contain a comma too.
  const urls = text === '' ? [] : text.split(/\s*,\s*(?=https?:\/\/)/i);
  return urls.every(isHttpUrl) ? [...new Set(urls)] : undefined;
}

function isHttpUrl(text: string): boolean {
  const url = parseUrl(text);
  // Credentials in the URL are not supported, because messages are signed.
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

function parseUrl(text: string): URL | null {
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
  return isPlain && (url.password === '' || url.username !== '') && readLogin(url) ? text : undefined;
}

const ADDRESS = /^[^\s@,;:<>()[\]\\"']{1,64}@[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?$/i;

/** `desk@example.com` */
export function parseMailAddress(text: string): string | undefined {
  return ADDRESS.test(text) ? text : undefined;
}

/** Parses addresses, separated by commas. */
export function parseMailAddresses(text: string): string[] | undefined {
  const parts = splitList(text);
  return parts.every((part) => ADDRESS.test(part)) ? parts : undefined;
}

/** Parses hosts without a port, addresses and networks. */
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

/** Returns an id of a target that is the same on all replicas and after a restart, and that reveals no secret. */
export function toTargetId(kind: 'webhook' | 'mail', where: string): string {
  return createHash('sha256').update(`${kind} ${where}`).digest('hex').slice(0, 16);
}
