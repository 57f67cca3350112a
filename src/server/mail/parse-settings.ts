/** Returns null for an invalid URL, or one with blanks. */
export function parseUrl(text: string): URL | null {
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

export const MAIL_ADDRESS = /^[^\s@,;:<>()[\]\\"']{1,64}@[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?$/i;

/** `shop@example.com` */
export function parseMailAddress(text: string): string | undefined {
  return MAIL_ADDRESS.test(text) ? text : undefined;
}

/** Splits a list at its commas. */
export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Decodes the credentials of a URL. @returns undefined if they are malformed */
export function readLogin({ username, password }: URL): { readonly user: string; readonly pass: string } | undefined {
  try {
    return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  } catch {
    return undefined;
  }
}
