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
 * @throws ConfigError if the header would be accepted from any client
 */
export function requireProxySettings({ trustProxy, authProxySecret }: ProxySettings): {
  readonly addresses: readonly string[];
  readonly secret: string;
} {
  const sentences: string[] = [];
  // A number of hops trusts any client that connects.
  if (typeof trustProxy === 'number') {
    sentences.push(
      'The setting AUTH_PROXY_HEADER needs the addresses of the proxy in TRUST_PROXY, such as 10.0.0.5 or 10.0.0.0/8. With a number of hops, any client that reaches this server could claim any name.',
    );
  }
  if (authProxySecret === undefined) {
    sentences.push(
      'The setting AUTH_PROXY_HEADER needs AUTH_PROXY_SECRET, which the proxy sends in the header X-Auth-Proxy-Secret. Without it, a visitor whose headers the proxy passes on could claim any name. Set it to the same secret on both sides, for example the output of "openssl rand -hex 32".',
    );
  }
  if (typeof trustProxy === 'number' || authProxySecret === undefined) throw new ConfigError(sentences);
  return { addresses: trustProxy, secret: authProxySecret };
}
