/** The origins that this server answers for. */
export type Origins = ReturnType<typeof createOrigins>;

export function createOrigins(configured: readonly string[], listening: string) {
  const byHost = new Map<string, string>();
  for (const origin of configured) {
    const { host } = new URL(origin);
    if (!byHost.has(host)) byHost.set(host, origin);
  }
  const known = new Set(configured);
  return {
    /** From `PUBLIC_ORIGINS`, in its order; empty if nothing is configured. */
    configured,
    /** Used if a request names no host: the first configured origin, or the listening address. */
    fallback: configured[0] ?? listening,
    /** Returns the configured origin of this `Host`, which is lower case and has its port unless that is the default. */
    forHost(host: string): string | undefined {
      const [label = ''] = host.split('.', 1);
      return byHost.get(host) ?? byHost.get(`*${host.slice(label.length)}`)?.replace('*', label);
    },
    /** True if `origin` is configured, or the request's own. That of another tenant (`https://*.example.com`) is not. */
    isOurs: (origin: string, ownOrigin: string): boolean => origin === ownOrigin || known.has(origin),
  };
}

/**
 * Parses `PUBLIC_ORIGINS`: after the first, which links in mails begin with, `https://*.example.com` stands for the hosts
 * one level below. @returns undefined if one is invalid
 */
export const parsePublicOrigins = (text: string) => parseOrigins(text, true);

/** Parses http(s) origins without a path, separated by commas. @returns undefined if one is invalid */
export function parseOrigins(text: string, areTenants = false): readonly string[] | undefined {
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const origins = parts.map((part, index) => {
    const url = URL.canParse(part) ? new URL(part) : undefined;
    if (!url || url.href !== `${url.origin}/` || /[?#]/.test(part)) return undefined;
    const scheme = url.protocol === 'https:' ? 'https' : url.protocol === 'http:' ? 'http' : undefined;
    const host = areTenants && index > 0 ? url.host.replace(/^\*\./, '') : url.host;
    return scheme && toCheckedHost(host, scheme) ? url.origin : undefined;
  });
  return origins.every((origin) => origin !== undefined) ? [...new Set(origins)] : undefined;
}

const NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?::\d{1,5})?$/;
const IPV6 = /^\[[0-9a-f:.]{2,45}\](?::\d{1,5})?$/;
const MAX_HOST_LENGTH = 261;

/**
 * Returns a `Host` as it is written in an origin of this scheme: lower case, without the default port. Undefined for
 * anything but a plain host and port: markup, user names, paths, lists, numbers that URL parsers read as addresses.
 */
export function toCheckedHost(text: string, scheme: 'http' | 'https'): string | undefined {
  const lower = text.toLowerCase();
  if (lower.length > MAX_HOST_LENGTH || !(NAME.test(lower) || IPV6.test(lower))) return undefined;
  const href = `${scheme}://${lower}/`;
  if (!URL.canParse(href)) return undefined;
  const { host } = new URL(href);
  const spelt = lower.replace(scheme === 'http' ? /:0*80$/ : /:0*443$/, '');
  return host === spelt || lower.startsWith('[') ? host : undefined;
}
