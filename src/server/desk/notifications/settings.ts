import { createHash } from 'node:crypto';
import { parseUrl } from '../../engine/outgoing/parse-settings.ts';
import type { MailServer } from '../../engine/outgoing/send-mail.ts';

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

/** Returns an id of a target that is the same on all replicas and after a restart, and that reveals no secret. */
export function toTargetId(kind: 'webhook' | 'mail', where: string): string {
  return createHash('sha256').update(`${kind} ${where}`).digest('hex').slice(0, 16);
}
