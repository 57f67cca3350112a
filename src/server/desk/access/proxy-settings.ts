import { ConfigError } from '../../engine/settings.ts';

export interface ProxySettings {
  readonly authProxyHeader: string | undefined;
  readonly authProxySecret: string | undefined;
  readonly authProxyOperators: readonly string[];
  readonly trustProxy: number | readonly string[];
}

/**
 * Checks the settings that AUTH_PROXY_HEADER needs.
 *
 * @returns the addresses of the proxy, and its secret
 * @throws ConfigError where the header would be believed from anybody
 */
export function requireProxySettings({ trustProxy, authProxySecret }: ProxySettings): {
  readonly addresses: readonly string[];
  readonly secret: string;
} {
  const sentences: string[] = [];
  // A number of hops trusts whoever connects.
  if (typeof trustProxy === 'number') {
    sentences.push(
      'The setting AUTH_PROXY_HEADER needs the addresses of the proxy in TRUST_PROXY, such as 10.0.0.5 or 10.0.0.0/8: with a number of hops, anybody who reaches this server could name themselves.',
    );
  }
  if (authProxySecret === undefined) {
    sentences.push(
      'The setting AUTH_PROXY_HEADER needs AUTH_PROXY_SECRET, which the proxy sends in the header X-Auth-Proxy-Secret. Without it, a visitor whose headers the proxy passes on could claim any name. Set it on both sides to the same secret, such as what "openssl rand -hex 32" prints.',
    );
  }
  if (typeof trustProxy === 'number' || authProxySecret === undefined) throw new ConfigError(sentences);
  return { addresses: trustProxy, secret: authProxySecret };
}
