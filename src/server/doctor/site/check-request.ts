import { isSpecialAddress } from '../../desk/notifications/special-addresses.ts';
import { DOCTOR_SEEN, type Seen } from '../../engine/monitoring/doctor-protocol.ts';
import { type Finding, type Remedy, toOk, toSetting, toUnknown } from '../finding.ts';
import { type Answer, type Ask, readJson } from './ask.ts';
import {
  PASS_ADDRESS,
  PASS_HOST,
  PASS_SCHEME,
  PASS_TOKEN,
  PASS_UPGRADES,
  REPLACE_ADDRESS,
  REPLACE_HOST,
} from './remedies.ts';

/** Of a network that is for examples alone (RFC 5737): nobody comes from there. */
export const FORGED_ADDRESS = '203.0.113.7';
export const FORGED_HOST = 'forged.invalid';

export interface SeenRequests {
  readonly site: URL;
  /** The address that the site's name has, as far as this machine reached it. */
  readonly siteAddress: string;
  /** This end of the connection of `plain`. */
  readonly local: Answer['local'];
  readonly plain: Seen;
  /** With forwarded headers that a visitor made up. */
  readonly forged: Seen;
}

/** What it forges is believed for where it stands, and not for how the proxy is set up. */
function isInside(requests: SeenRequests): boolean {
  return isDirect(requests) || requests.plain.isVisitorListed;
}

/** Nothing stands in between: the other end is this process. */
export function isDirect({ plain, local }: Pick<SeenRequests, 'plain' | 'local'>): boolean {
  return plain.peerPort === local.port && plain.peer === toPlain(local.address);
}

/** What the server saw; undefined for what is no such answer. */
export function readSeen(answer: Pick<Answer, 'status' | 'body'>): Seen | undefined {
  const seen = answer.status === 200 ? readJson<Partial<Seen>>(answer) : undefined;
  if (!Array.isArray(seen?.headers) || typeof seen.address !== 'string' || typeof seen.peer !== 'string')
    return undefined;
  return { ...(seen as Seen), address: toPlain(seen.address), peer: toPlain(seen.peer) };
}

/** A socket that listens on IPv6 shows IPv4 in its clothes. */
function toPlain(address: string): string {
  return address.replace(/^::ffff:(?=[\d.]+$)/i, '');
}

/** Why the server did not say what it saw. */
export function judgeToken({ status, headers }: Pick<Answer, 'status' | 'headers'>): Finding {
  const about = 'Token';
  if (status === 401 && headers['www-authenticate'] === 'Bearer') {
    return {
      about,
      mark: 'wrong',
      found: 'The server does not know it.',
      advice: 'Take one of its VIEWER_TOKEN or OPERATOR_TOKEN.',
    };
  }
  if (status === 429) {
    const wait = headers['retry-after'] ?? '60';
    return {
      about,
      mark: 'unknown',
      found: 'Too many wrong ones came from this address.',
      advice: `Try again in ${wait} s.`,
    };
  }
  return {
    about,
    mark: 'wrong',
    found: `It does not reach the server, or that is an older one: what only it can say is answered with ${status}.`,
    advice: 'Pass Authorization on.',
    remedies: PASS_TOKEN,
  };
}

export function judgeAddress(requests: SeenRequests): Finding {
  const about = "Visitor's address";
  const { plain, forged, siteAddress } = requests;
  const isForwarded = plain.headers.includes('x-forwarded-for');
  const wrong = (found: string, advice: string, remedies: readonly Remedy[]): Finding => {
    return { about, mark: 'wrong', found, advice, remedies };
  };
  if (forged.address === FORGED_ADDRESS) {
    if (isInside(requests)) {
      return {
        about,
        mark: 'warning',
        found: `This machine (${plain.address}) stands where a proxy would, so it may say for whom it asks: what strangers may cannot be seen from here.`,
        advice:
          'Measure from outside, by the address that visitors use. Nobody else should reach the server from here.',
      };
    }
    return wrong(
      'Whoever sends X-Forwarded-For chooses the address that they are taken to come from: limits and logs mean nothing.',
      'Let the outermost proxy put the address there itself, and count no more proxies in TRUST_PROXY than there are.',
      [...toSetting('TRUST_PROXY=1    # the number of proxies in front'), ...REPLACE_ADDRESS],
    );
  }
  if (isForwarded && !plain.isPeerTrusted) {
    return wrong(
      `Every visitor has the address of the proxy, ${plain.peer}: what it says of them is not believed.`,
      'Say who the proxy is.',
      toSetting(`TRUST_PROXY=${plain.peer}`),
    );
  }
  if (isDirect(requests)) return toOk(about, `${plain.address}, without a proxy in between.`);
  if (!isForwarded) {
    return {
      about,
      mark: plain.isPeerTrusted ? 'wrong' : 'warning',
      found: `Every visitor has the address of what stands in front, ${plain.peer}: it does not say for whom it asks.`,
      advice: 'Have it send X-Forwarded-For, and name it in TRUST_PROXY.',
      remedies: [...toSetting(`TRUST_PROXY=${plain.peer}`), ...PASS_ADDRESS],
    };
  }
  if (isSpecialAddress(plain.address) && !isSpecialAddress(siteAddress)) {
    return wrong(
      `The server takes ${plain.address} for the visitor, which is an address of an inner network.`,
      'Count all proxies, or name their networks.',
      toSetting('TRUST_PROXY=2    # or addresses and networks: 10.0.0.0/8,loopback'),
    );
  }
  return toOk(about, `${plain.address}, and a forged X-Forwarded-For changes nothing.`);
}

export function judgeScheme(requests: SeenRequests): Finding {
  const about = 'Scheme';
  const { site, plain, forged } = requests;
  const scheme = site.protocol === 'https:' ? 'https' : 'http';
  if (plain.scheme !== scheme) {
    const isUntrusted = plain.headers.includes('x-forwarded-proto') && !plain.isPeerTrusted;
    return {
      about,
      mark: 'wrong',
      found: `The site is on ${scheme}, and the server takes it for ${plain.scheme}.`,
      advice: isUntrusted ? 'Say who the proxy is.' : 'Have the proxy say by which scheme a visitor came.',
      remedies: isUntrusted ? toSetting(`TRUST_PROXY=${plain.peer}`) : PASS_SCHEME,
    };
  }
  if (forged.scheme !== scheme && !isDirect(requests)) {
    return {
      about,
      mark: 'warning',
      found: 'Whoever sends X-Forwarded-Proto chooses the scheme.',
      advice: 'Have the proxy put it there itself.',
      remedies: PASS_SCHEME,
    };
  }
  return toOk(about, `${scheme}, as visitors see it.`);
}

export function judgeHost(requests: SeenRequests): Finding {
  const about = 'Host';
  const { site, plain, forged } = requests;
  const toLine = toSetting(`PUBLIC_ORIGINS=${site.origin}`);
  if (plain.host !== site.host) {
    return {
      about,
      mark: plain.origin === site.origin ? 'warning' : 'wrong',
      found: `Visitors ask for ${site.host}, and the server for ${plain.host ?? 'no host'} gets it.`,
      advice: 'Pass the Host on.',
      remedies: PASS_HOST,
    };
  }
  if (plain.origin === undefined) {
    return {
      about,
      mark: 'wrong',
      found: 'This origin is none of PUBLIC_ORIGINS, so visitors get 421.',
      advice: 'Add it.',
      remedies: toLine,
    };
  }
  if (plain.hasOrigins && plain.origin !== site.origin) {
    return {
      about,
      mark: 'wrong',
      found: `The server is asked under ${site.origin}, and answers as ${plain.origin}: forms are refused, and links lead elsewhere.`,
      advice: 'Name the origin as visitors have it.',
      remedies: toLine,
    };
  }
  if (forged.host === FORGED_HOST && !forged.hasOrigins && !isDirect(requests)) {
    return {
      about,
      mark: 'wrong',
      found: 'Whoever sends X-Forwarded-Host chooses the name under which the site answers.',
      advice: 'Say which origins there are, and have the proxy put the header there itself.',
      remedies: [...toLine, ...REPLACE_HOST],
    };
  }
  if (!plain.hasOrigins) {
    return {
      about,
      mark: 'warning',
      found: 'Every host is answered, because PUBLIC_ORIGINS is not set.',
      advice: 'Say which origins there are.',
      remedies: toLine,
    };
  }
  return toOk(about, `${plain.origin}, as visitors have it.`);
}

export function judgeSockets(asked: Pick<Answer, 'status'>, seen: Seen | undefined): Finding {
  const about = 'WebSockets';
  if (asked.status !== 200 || !seen) return toUnknown(about, `A handshake was answered with ${asked.status}.`);
  if (seen.headers.includes('upgrade')) return toOk(about, 'A handshake reaches the server.');
  const found = 'A handshake does not reach the server: the proxy takes Upgrade away.';
  if (!seen.hasSockets) return toOk(about, `${found} This app has none.`);
  return { about, mark: 'wrong', found, advice: 'Pass it on.', remedies: PASS_UPGRADES };
}

/** What the server is asked that it may see: as a visitor would, and as one who forges. */
const FORGED_HEADERS = { 'X-Forwarded-For': FORGED_ADDRESS, 'X-Forwarded-Host': FORGED_HOST };

const HANDSHAKE = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'c3BpbGx3YXktZG9jdG9yIQ==',
};

/**
 * @param answer what came of asking for `DOCTOR_SEEN` with the token
 * @param plain what the server saw of that
 * @throws NoAnswerError
 */
export async function checkRequest(ask: Ask, site: URL, answer: Answer, plain: Seen): Promise<Finding[]> {
  const otherScheme = site.protocol === 'https:' ? 'http' : 'https';
  const [forging, handshake] = await Promise.all([
    ask({ path: DOCTOR_SEEN, headers: { ...FORGED_HEADERS, 'X-Forwarded-Proto': otherScheme }, isAuthorized: true }),
    ask({ path: DOCTOR_SEEN, headers: HANDSHAKE, isAuthorized: true }),
  ]);
  const sockets = judgeSockets(handshake, readSeen(handshake));
  const forged = readSeen(forging);
  if (!forged) {
    const found = `With forged X-Forwarded headers it is answered with ${forging.status}, so that they were not looked at.`;
    return [toUnknown("Visitor's address, scheme, host", found), sockets];
  }
  const requests = { site, siteAddress: answer.remoteAddress, local: answer.local, plain, forged };
  return [judgeAddress(requests), judgeScheme(requests), judgeHost(requests), sockets];
}
