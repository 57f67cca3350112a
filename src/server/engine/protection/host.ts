const NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?::\d{1,5})?$/;
const IPV6 = /^\[[0-9a-f:.]{2,45}\](?::\d{1,5})?$/;
const MAX_LENGTH = 261;

/**
 * Returns a `Host` as it is written in an origin of this scheme: lower case, without the default port. Undefined for
 * anything but a plain host and port: markup, user names, paths, lists, numbers that URL parsers read as addresses.
 */
export function toCheckedHost(text: string, scheme: 'http' | 'https'): string | undefined {
  const lower = text.toLowerCase();
  if (lower.length > MAX_LENGTH || !(NAME.test(lower) || IPV6.test(lower))) return undefined;
  const href = `${scheme}://${lower}/`;
  if (!URL.canParse(href)) return undefined;
  const { host } = new URL(href);
  const spelt = lower.replace(scheme === 'http' ? /:0*80$/ : /:0*443$/, '');
  return host === spelt || lower.startsWith('[') ? host : undefined;
}
