import { ConfigError } from '../../config.ts';

export interface ProxySettings {
  readonly authProxyHeader: string | undefined;
  readonly authProxyOperators: readonly string[];
  readonly trustProxy: number | readonly string[];
}

/**
 * @returns whom to believe the header
 * @throws ConfigError where the header would be believed from anybody
 */
export function requireProxyAddresses({ trustProxy }: ProxySettings): readonly string[] {
  // A number of hops trusts whoever connects.
  if (typeof trustProxy === 'number') {
    throw new ConfigError([
      'The setting AUTH_PROXY_HEADER needs the addresses of the proxy in TRUST_PROXY, such as 10.0.0.5 or 10.0.0.0/8: with a number of hops, anybody who reaches this server could name themselves.',
    ]);
  }
  return trustProxy;
}
