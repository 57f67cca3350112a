import { MAIL_ADDRESS, type MailServer, parseUrl } from '#engine/tracker';

/** Everything that notifications need, secrets included. It is plain data, because it is sent to the desk worker. */
export interface NotifySettings {
  readonly webhooks: readonly string[];
  readonly webhookSecret: string | undefined;
  /** Undefined if mail is not configured. */
  readonly mail: MailSettings | undefined;
  /** A new incident is announced when it has happened this often. */
  readonly after: number;
  /** The public origin of the desk. Undefined if it is not configured. */
  readonly deskOrigin: string | undefined;
}

export interface MailSettings extends MailServer {
  readonly to: readonly string[];
}

/** Parses URLs, separated by commas. @returns undefined if one is invalid */
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

/** Parses addresses, separated by commas. */
export function parseMailAddresses(text: string): string[] | undefined {
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return parts.every((part) => MAIL_ADDRESS.test(part)) ? parts : undefined;
}
