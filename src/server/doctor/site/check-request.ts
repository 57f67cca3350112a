import { DOCTOR_SEEN, type Seen } from '../../engine/monitoring/doctor-protocol.ts';
import { isSpecialAddress } from '../../engine/outgoing/special-addresses.ts';
import { type Checks, type Finding, judge, ok, toFinding, unknown, type Verdict, warning, wrong } from '../finding.ts';
import { type Answer, type Ask, readJson } from './ask.ts';
import { REMEDIES } from './remedies.ts';

/** An address from a network for documentation (RFC 5737), which no visitor has. */
export const FORGED_ADDRESS = '203.0.113.7';
export const FORGED_HOST = 'forged.invalid';

const HANDSHAKE = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'c3BpbGx3YXktZG9jdG9yIQ==',
};

export interface RequestFacts {
  readonly site: URL;
  /** The address that the site's name resolved to. */
  readonly siteAddress: string;
  /** This end of the connection of `plain`. */
  readonly local: Answer['local'];
  readonly plain: Seen;
  /** The same with forwarded headers that a visitor made up. */
  readonly forged: Seen;
}

export const REQUEST_CHECKS = {
  /** Does the server see the address of each visitor, and can a visitor forge it? */
  "Visitor's address"(facts) {
    const { plain, forged, siteAddress } = facts;
    const isForwarded = plain.headers.includes('x-forwarded-for');
    const trustPeer = { setting: `TRUST_PROXY=${plain.peer}` };
    if (forged.address === FORGED_ADDRESS && (isDirect(facts) || plain.isVisitorListed)) {
      return warning(
        `The server trusts this machine (${plain.address}) like a proxy, so this command can forge its address. It cannot show whether visitors can.`,
        'Run it from outside, with the address that visitors use. Only proxies need to reach the server from here.',
      );
    }
    if (forged.address === FORGED_ADDRESS) {
      return wrong(
        'A visitor who sends X-Forwarded-For can choose their own address, which makes rate limits and logs useless.',
        'Let the outermost proxy set the header itself, and count no more proxies in TRUST_PROXY than there are.',
        { setting: 'TRUST_PROXY=1    # the number of proxies in front', ...REMEDIES.replaceAddress },
      );
    }
    if (isForwarded && !plain.isPeerTrusted) {
      return wrong(
        `Every visitor has the address of the proxy, ${plain.peer}, because the server does not trust its X-Forwarded-For.`,
        'Set TRUST_PROXY to the proxy.',
        trustPeer,
      );
    }
    if (isDirect(facts)) return ok(`${plain.address}, without a proxy in between.`);
    if (!isForwarded) {
      const judged = plain.isPeerTrusted ? wrong : warning;
      return judged(
        `Every visitor has the address of the proxy, ${plain.peer}, because it sends no X-Forwarded-For.`,
        'Let it send the header, and set TRUST_PROXY to it.',
        { ...trustPeer, ...REMEDIES.passAddress },
      );
    }
    if (isSpecialAddress(plain.address) && !isSpecialAddress(siteAddress)) {
      return wrong(
        `The server takes ${plain.address} for the visitor's address, but it belongs to an internal network.`,
        'Count all proxies, or list their networks.',
        { setting: 'TRUST_PROXY=2    # or addresses and networks: 10.0.0.0/8,loopback' },
      );
    }
    return ok(`${plain.address}, and a forged X-Forwarded-For changes nothing.`);
  },

  /** Does the server know whether visitors use https? */
  Scheme(facts) {
    const { site, plain, forged } = facts;
    const scheme = site.protocol.slice(0, -1);
    if (plain.scheme !== scheme) {
      const found = `Visitors use ${scheme}, and the server believes that they use ${plain.scheme}.`;
      if (plain.headers.includes('x-forwarded-proto') && !plain.isPeerTrusted) {
        return wrong(found, 'Set TRUST_PROXY to the proxy.', { setting: `TRUST_PROXY=${plain.peer}` });
      }
      return wrong(found, 'Let the proxy send the scheme that the visitor used.', REMEDIES.passScheme);
    }
    if (forged.scheme !== scheme && !isDirect(facts)) {
      return warning(
        'A visitor who sends X-Forwarded-Proto chooses the scheme.',
        'Let the proxy set it itself.',
        REMEDIES.passScheme,
      );
    }
    return ok(`${scheme}, as visitors use it.`);
  },

  /** Does the server know the host that visitors use, and can a visitor forge it? */
  Host(facts) {
    const { site, plain, forged } = facts;
    const setOrigin = { setting: `PUBLIC_ORIGINS=${site.origin}` };
    if (plain.host !== site.host) {
      const judged = plain.origin === site.origin ? warning : wrong;
      return judged(
        `Visitors ask for ${site.host}, and the server gets ${plain.host ?? 'no host'}.`,
        'Let the proxy pass Host on.',
        REMEDIES.passHost,
      );
    }
    if (plain.origin === undefined) {
      return wrong('This origin is not in PUBLIC_ORIGINS, so visitors get 421.', 'Add it.', setOrigin);
    }
    if (plain.hasOrigins && plain.origin !== site.origin) {
      return wrong(
        `Visitors use ${site.origin}, and the server answers as ${plain.origin}: forms are refused, and links lead elsewhere.`,
        'Set the origin that visitors use.',
        setOrigin,
      );
    }
    if (forged.host === FORGED_HOST && !forged.hasOrigins && !isDirect(facts)) {
      return wrong(
        'A visitor who sends X-Forwarded-Host chooses the host that the server answers for.',
        'Set the origins that visitors use, and let the proxy set the header itself.',
        { ...setOrigin, ...REMEDIES.replaceHost },
      );
    }
    if (!plain.hasOrigins) {
      return warning(
        'Requests for any host are accepted, because PUBLIC_ORIGINS is not set.',
        'Set the origins that visitors use.',
        setOrigin,
      );
    }
    return ok(`${plain.origin}, as visitors use it.`);
  },
} satisfies Checks<RequestFacts>;

/** Returns whether the server's peer is this process, without a proxy in between. */
function isDirect({ plain, local }: RequestFacts): boolean {
  return plain.peerPort === local.port && plain.peer === toPlain(local.address);
}

/** Shortens `::ffff:10.0.0.5`, as a socket that listens on IPv6 shows IPv4 addresses. */
function toPlain(address: string): string {
  return address.replace(/^::ffff:(?=[\d.]+$)/i, '');
}

/** Reads what the server saw. @returns undefined for any other response */
export function readSeen(answer: Pick<Answer, 'status' | 'body'>): Seen | undefined {
  const seen = answer.status === 200 ? readJson<Partial<Seen>>(answer) : undefined;
  if (!Array.isArray(seen?.headers) || typeof seen.address !== 'string' || typeof seen.peer !== 'string')
    return undefined;
  return { ...(seen as Seen), address: toPlain(seen.address), peer: toPlain(seen.peer) };
}

/** Judges a response that does not have the facts. */
export function judgeToken({ status, headers }: Pick<Answer, 'status' | 'headers'>): Verdict {
  if (status === 401 && headers['www-authenticate'] === 'Bearer') {
    return wrong('The server does not know it.', 'Use one of its VIEWER_TOKEN or OPERATOR_TOKEN.');
  }
  if (status === 429) {
    return unknown(
      'Too many wrong tokens came from this address.',
      `Try again in ${headers['retry-after'] ?? '60'} s.`,
    );
  }
  return wrong(
    `It does not reach the server, or the server is an older version: a request with the token gets ${status}.`,
    'Let the proxy pass Authorization on.',
    REMEDIES.passToken,
  );
}

/** Do WebSockets reach the server? */
export function judgeSockets({ status }: Pick<Answer, 'status'>, seen: Seen | undefined): Verdict {
  if (!seen) return unknown(`A handshake gets status ${status}.`);
  if (seen.headers.includes('upgrade')) return ok('A handshake reaches the server.');
  const found = 'A handshake does not reach the server, because a proxy removes Upgrade.';
  if (!seen.hasSockets) return ok(`${found} This app has no WebSockets.`);
  return wrong(found, 'Let the proxy pass it on.', REMEDIES.passUpgrades);
}

export interface RequestOptions {
  readonly ask: Ask;
  readonly site: URL;
  /** The response to `DOCTOR_SEEN` with the token. */
  readonly answer: Pick<Answer, 'remoteAddress' | 'local'>;
  /** The facts in it. */
  readonly plain: Seen;
}

/** @throws NoAnswerError */
export async function checkRequest({ ask, site, answer, plain }: RequestOptions): Promise<Finding[]> {
  const forgery = {
    'X-Forwarded-For': FORGED_ADDRESS,
    'X-Forwarded-Host': FORGED_HOST,
    'X-Forwarded-Proto': site.protocol === 'https:' ? 'http' : 'https',
  };
  const [forging, handshake] = await Promise.all([
    ask({ path: DOCTOR_SEEN, headers: forgery, isAuthorized: true }),
    ask({ path: DOCTOR_SEEN, headers: HANDSHAKE, isAuthorized: true }),
  ]);
  const forged = readSeen(forging);
  const refused = unknown(`A request with forged X-Forwarded headers gets status ${forging.status}.`);
  return [
    ...(forged
      ? judge(REQUEST_CHECKS, { site, siteAddress: answer.remoteAddress, local: answer.local, plain, forged })
      : [toFinding("Visitor's address, scheme, host", refused)]),
    toFinding('WebSockets', judgeSockets(handshake, readSeen(handshake))),
  ];
}
