import type { IncomingMessage } from 'node:http';
import { isFromProxy, isSameText, type Operator, type ProxyTrust } from '#engine/tracker';

/** The header in which the proxy proves that it set the name itself, in lower case. */
export const AUTH_PROXY_SECRET_HEADER = 'x-auth-proxy-secret';

export interface ProxySignIn {
  /** The header with the person's name, in lower case. */
  readonly header: string;
  /**
   * Sent by the proxy with the name. A name without it proves nothing, because most proxies pass on a visitor's
   * headers.
   */
  readonly secret: string;
  /** Names that can change things; `*` for everyone. Others can only read. */
  readonly operators: readonly string[];
}

/** Names that fit on one line with a change. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._@+'-]{0,79}$/u;

/**
 * Returns the person that an authenticating proxy signed in. A header that was sent twice, or from an address that is not
 * a proxy's, is ignored.
 */
export function readProxyOperator(
  req: IncomingMessage,
  { header, secret, operators }: ProxySignIn,
  trust: ProxyTrust,
): Operator | undefined {
  const name = readOnly(req, header);
  const proof = readOnly(req, AUTH_PROXY_SECRET_HEADER);
  if (name === undefined || proof === undefined || !NAME.test(name)) return undefined;
  if (!isFromProxy(req, trust) || !isSameText(proof, secret)) return undefined;
  return { name, role: operators.includes('*') || operators.includes(name) ? 'operator' : 'viewer' };
}

function readOnly(req: IncomingMessage, name: string): string | undefined {
  if (req.headers[name] === undefined) return undefined;
  const [value, ...others] = req.headersDistinct[name] ?? [];
  return others.length === 0 ? value : undefined;
}

/** Lists what AUTH_PROXY_HEADER needs, so that it is not accepted from any client. */
export function listProxyProblems(
  { header, secret }: Pick<ProxySignIn, 'header' | 'secret'>,
  trustProxy: number | readonly string[],
): string[] {
  if (header === '') return [];
  return [
    // A number of hops trusts any client that connects.
    ...(typeof trustProxy === 'number'
      ? [
          'The setting AUTH_PROXY_HEADER needs the addresses of the proxy in TRUST_PROXY, such as 10.0.0.5 or 10.0.0.0/8. With a number of hops, any client that reaches this server could claim any name.',
        ]
      : []),
    ...(secret === ''
      ? [
          'The setting AUTH_PROXY_HEADER needs AUTH_PROXY_SECRET, which the proxy sends in the header X-Auth-Proxy-Secret. Without it, a visitor whose headers the proxy passes on could claim any name. Set it to the same secret on both sides, for example the output of "openssl rand -hex 32".',
        ]
      : []),
  ];
}
