import { createHash } from 'node:crypto';
import { Hour, Minute } from '../../../shared/units.ts';
import { MAIL_ADDRESS, parseUrl, splitList } from '../../engine/outgoing/parse-settings.ts';
import type { MailServer } from '../../engine/outgoing/send-mail.ts';
import type { Threshold } from '../store/notifications/notification-rules.ts';

export type WebhookFormat = 'json' | 'slack';

/** Everything that notifications need, secrets included. It is plain data, because it is sent to the desk worker. */
export interface NotifySettings {
  readonly webhooks: readonly string[];
  /** Undefined: Slack's format for Slack's own hosts, JSON for others. */
  readonly webhookFormat: WebhookFormat | undefined;
  readonly webhookSecret: string | undefined;
  /** Undefined if mail is not configured. */
  readonly mail: MailSettings | undefined;
  /** An incident is notified of when it reaches one of these. */
  readonly after: readonly Threshold[];
  /** Names, addresses and networks that are allowed although they are not public. */
  readonly privateTargets: readonly string[];
  readonly heartbeatUrl: string | undefined;
  /** The public origin of the desk; undefined if it is not configured. */
  readonly deskOrigin: string | undefined;
  readonly environment: string;
}

export interface MailSettings extends MailServer {
  readonly to: readonly string[];
  /** Addresses of operators, by name. */
  readonly people: Readonly<Record<string, string>>;
  /** When a summary of the last day is sent (ms since midnight, UTC). */
  readonly summaryAt: number | undefined;
}

/** The environment of a target that is used only there: `staging:ada@example.com`. */
const SCOPE = /^([\w.-]{1,64}):(?!\/\/)/;

/** Returns the targets of an environment, without its name. */
export function listInEnvironment(targets: readonly string[], environment: string): string[] {
  return targets.flatMap((target) => {
    const [scope = '', of = environment] = SCOPE.exec(target) ?? [];
    return of === environment ? [target.slice(scope.length)] : [];
  });
}

/** Parses `3`, `10 in 5m` and `20 visitors`, separated by commas. The rows of occurrences limit what is counted in minutes. */
export function parseThresholds(text: string): Threshold[] | undefined {
  const parts = splitList(text).map((part) => /^([1-9]\d{0,6})(?: in ([1-9]\d?)m| (visitors))?$/.exec(part));
  const thresholds = parts.map((part) => {
    const [, count, minutes, of] = part ?? [];
    return {
      count: Number(count),
      ...(minutes && { within: Number(minutes) * Minute }),
      ...(of && { of: 'visitors' as const }),
    };
  });
  const isSound = thresholds.every(({ count, within = 0 }) => count <= (within ? 1000 : 1e6) && within <= Hour);
  return isSound && thresholds.length > 0 ? thresholds : undefined;
}

/** Parses a time of day, `07:30`. @returns milliseconds since midnight */
export function parseTimeOfDay(text: string): number | undefined {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  return hours === undefined ? undefined : Number(hours) * Hour + Number(minutes) * Minute;
}

/** Parses `name:address`, separated by commas. A name can be an address. */
export function parsePeople(text: string): Record<string, string> | undefined {
  const people = splitList(text).map((part) => [
    part.slice(0, part.lastIndexOf(':')),
    part.slice(part.lastIndexOf(':') + 1),
  ]);
  const isSound = people.every(([name = '', address = '']) => name !== '' && MAIL_ADDRESS.test(address));
  return isSound ? Object.fromEntries(people) : undefined;
}

/** Parses URLs, separated by commas, each with or without an environment. @returns undefined if one is invalid */
export function parseHttpUrls(text: string): string[] | undefined {
  // A URL can contain a comma too.
  const urls = text === '' ? [] : text.split(/\s*,\s*(?=(?:[\w.-]{1,64}:)?https?:\/\/)/i);
  return urls.every((url) => isHttpUrl(url.replace(SCOPE, ''))) ? [...new Set(urls)] : undefined;
}

function isHttpUrl(text: string): boolean {
  const url = parseUrl(text);
  // Credentials in the URL are not supported, because messages are signed.
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

/** Parses addresses, separated by commas, each with or without an environment. */
export function parseMailAddresses(text: string): string[] | undefined {
  const parts = splitList(text);
  return parts.every((part) => MAIL_ADDRESS.test(part.replace(SCOPE, ''))) ? parts : undefined;
}

/** Returns an id of a target that is the same on all replicas and after a restart, and that reveals no secret. */
export function toTargetId(kind: 'webhook' | 'mail' | 'person', where: string): string {
  return createHash('sha256').update(`${kind} ${where}`).digest('hex').slice(0, 16);
}
