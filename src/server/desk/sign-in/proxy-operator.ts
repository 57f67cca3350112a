import type { IncomingMessage } from 'node:http';
import { createProxyTrust, isFromProxy, type ProxyTrust } from '../../engine/http/proxy-trust.ts';
import { type ProxySettings, requireProxyAddresses } from './proxy-settings.ts';
import type { Operator } from './sign-in.ts';

export interface ProxySignIn {
  /** The header by which the proxy says who somebody is, in lower case. */
  readonly header: string;
  /** Who of them may change things; `*` for everyone. The others look. */
  readonly operators: readonly string[];
  /** By addresses: whoever else sends the header is not believed. */
  readonly trust: ProxyTrust;
}

/** What fits beside a change, on one line. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._@+'-]{0,79}$/u;

/** Whom an authenticating proxy in front has let pass. A header that came twice is nobody's. */
export function readProxyOperator(
  req: IncomingMessage,
  { header, operators, trust }: ProxySignIn,
): Operator | undefined {
  const [name, ...others] = req.headersDistinct[header] ?? [];
  if (name === undefined || others.length > 0 || !NAME.test(name) || !isFromProxy(req, trust)) return undefined;
  return { name, role: operators.includes('*') || operators.includes(name) ? 'operator' : 'viewer' };
}

/**
 * @returns undefined where no header is set
 * @throws ConfigError where the header would be believed from anybody
 */
export function toProxySignIn(settings: ProxySettings): ProxySignIn | undefined {
  const { authProxyHeader: header, authProxyOperators: operators } = settings;
  if (header === undefined) return undefined;
  return { header, operators, trust: createProxyTrust(requireProxyAddresses(settings)) };
}
