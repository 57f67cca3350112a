import { connect } from 'node:tls';
import { toPlural } from '../../../shared/desk/words.ts';
import { Day, Second } from '../../../shared/units.ts';
import { type Finding, toOk, toSetting, toUnknown } from '../finding.ts';
import { type Answer, createAsk, NoAnswerError } from './ask.ts';
import { HTTP2, REDIRECT } from './remedies.ts';

/** Certificates are renewed a month before they end: one that ends sooner than this was forgotten (days). */
const RENEWED_BEFORE = 14;
/** How long a handshake may take (ms). */
const PATIENCE = 10 * Second;

export interface Tls {
  readonly isTrusted: boolean;
  /** Why it is not: the system's word, such as `CERT_HAS_EXPIRED`. */
  readonly error: string | undefined;
  /** Milliseconds since 1970; undefined where there is none. */
  readonly endsAt: number | undefined;
  /** `TLSv1.3` */
  readonly version: string;
  /** `h2`, `http/1.1`; undefined where the other side chose none. */
  readonly protocol: string | undefined;
}

/** @throws NoAnswerError */
export function measureTls(site: URL): Promise<Tls> {
  const host = site.hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(site.port || 443),
      ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
      ALPNProtocols: ['h2', 'http/1.1'],
      rejectUnauthorized: false,
      timeout: PATIENCE,
    });
    socket.once('secureConnect', () => {
      const { valid_to: end } = socket.getPeerCertificate();
      const endsAt = Date.parse(end);
      resolve({
        isTrusted: socket.authorized,
        error: socket.authorized ? undefined : toCode(socket.authorizationError),
        endsAt: Number.isNaN(endsAt) ? undefined : endsAt,
        version: socket.getProtocol() ?? '',
        protocol: socket.alpnProtocol || undefined,
      });
      socket.destroy();
    });
    socket.once('timeout', () => socket.destroy(new NoAnswerError('TIMEOUT')));
    socket.once('error', (error) => reject(error instanceof NoAnswerError ? error : new NoAnswerError(toCode(error))));
  });
}

/** Node's types call it an error; it is a text. */
function toCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

const NO_ANSWER_WORDS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'The name has no address. Look at its DNS records.',
  EAI_AGAIN: 'The name could not be looked up: DNS did not answer.',
  ECONNREFUSED: 'Nothing listens there. Start the proxy, or look at its port and the firewall.',
  ECONNRESET: 'The connection was cut. The log of the proxy says why.',
  TIMEOUT: 'No answer came in time. Look at the firewall, and whether the proxy reaches the server.',
  EPROTO: 'It does not speak TLS there. Is the address http:// ?',
};

export function judgeNoAnswer({ code }: NoAnswerError): Finding {
  return {
    about: 'Reachable',
    mark: 'wrong',
    found: `No answer came (${code}).`,
    advice: NO_ANSWER_WORDS[code] ?? 'The log of the proxy may say why.',
  };
}

export function judgeReach({ status, headers }: Pick<Answer, 'status' | 'headers'>): Finding {
  const about = 'Reachable';
  if (status === 502 || status === 504) {
    return {
      about,
      mark: 'wrong',
      found: `A proxy answers with ${status}: it does not reach the server.`,
      advice: 'Look whether the server runs, and which address and port the proxy has for it (HOST, PORT).',
    };
  }
  if (headers['x-request-id'] === undefined) {
    return {
      about,
      mark: 'wrong',
      found: `It answers with ${status}, and without an X-Request-Id: that is not Spillway, or a proxy takes the header away.`,
      advice: 'Look whether this address leads to the server, and whether the proxy passes its headers on.',
    };
  }
  if (status === 421) {
    return {
      about,
      mark: 'wrong',
      found: 'The server answers with 421: it does not know the host that it is asked for.',
      advice:
        'Add this origin to PUBLIC_ORIGINS, and have the proxy pass the Host on. With a token it is said which host came.',
    };
  }
  if (status >= 500) {
    return { about, mark: 'wrong', found: `The start page is answered with ${status}.`, advice: 'The desk says why.' };
  }
  return toOk(about, `The start page is answered with ${status}.`);
}

/** @param now milliseconds since 1970 */
export function judgeCertificate({ isTrusted, error, endsAt, version }: Tls, now: number): Finding {
  const about = 'Certificate';
  const days = endsAt === undefined ? undefined : Math.floor((endsAt - now) / Day);
  if (!isTrusted) {
    return {
      about,
      mark: 'wrong',
      found: `Browsers refuse it: ${error ?? 'it is not trusted'}.`,
      advice:
        days !== undefined && days < 0
          ? `It ended ${toPlural(-days, 'day')} ago. Renew it, and reload the proxy.`
          : 'Get one for this name from an authority that browsers know, and serve it with its intermediate certificates.',
    };
  }
  if (days === undefined) return toUnknown(about, 'It does not say when it ends.');
  if (days < RENEWED_BEFORE) {
    return {
      about,
      mark: 'warning',
      found: `It ends in ${toPlural(days, 'day')}, and was not renewed yet.`,
      advice: 'Look whether it is renewed by itself, and whether the proxy was reloaded since.',
    };
  }
  return toOk(about, `It is good for ${toPlural(days, 'day')} (${version}).`);
}

export function judgeVersion({ protocol }: Pick<Tls, 'protocol'>, altSvc: string | undefined): Finding {
  const about = 'HTTP version';
  const third = /\bh3\b/.test(altSvc ?? '') ? ', and HTTP/3 is offered' : '';
  if (protocol === 'h2') return toOk(about, `HTTP/2${third}.`);
  return {
    about,
    mark: 'warning',
    found: `HTTP/1.1${third}: a browser loads six things at a time.`,
    advice: 'Let the proxy speak HTTP/2.',
    remedies: HTTP2,
  };
}

/** What `http://` says; undefined where nothing listens on port 80. */
export async function measureRedirect(site: URL): Promise<Pick<Answer, 'status' | 'headers'> | undefined> {
  try {
    return await createAsk(new URL(`http://${site.hostname}/`))({ path: '/' });
  } catch {
    return undefined;
  }
}

export function judgeRedirect(answer: Pick<Answer, 'status' | 'headers'> | undefined, site: URL): Finding {
  const about = 'From http to https';
  const advice = 'Let http redirect to https, by 308 or 301.';
  if (!answer) {
    return {
      about,
      mark: 'warning',
      found: 'Nothing answers on port 80, so who types the name alone may find nothing.',
      advice,
      remedies: REDIRECT,
    };
  }
  const { status, headers } = answer;
  const to = headers.location && URL.canParse(headers.location) ? new URL(headers.location) : undefined;
  if ((status === 301 || status === 308) && to?.protocol === 'https:') {
    return toOk(about, to.host === site.host ? `${status} to the same host.` : `${status} to ${to.host}.`);
  }
  const found =
    status >= 300 && status < 400
      ? `It redirects by ${status} to ${to?.origin ?? 'an address of its own'}, which browsers do not remember as https.`
      : `The site answers with ${status} over http, where everybody on the way reads and changes it.`;
  return { about, mark: status >= 300 && status < 400 ? 'warning' : 'wrong', found, advice, remedies: REDIRECT };
}

export function judgeStrictTransport({ headers }: Pick<Answer, 'headers'>, site: URL): Finding {
  const about = 'HSTS';
  const seconds = Number(/max-age="?(\d+)/i.exec(headers['strict-transport-security'] ?? '')?.[1] ?? 0);
  if (seconds > 0) return toOk(about, `Browsers remember https for ${toPlural(Math.round(seconds / 86_400), 'day')}.`);
  return {
    about,
    mark: 'warning',
    found: 'There is no Strict-Transport-Security: the server takes its visitors to come over http.',
    advice: 'Name the origin with https in PUBLIC_ORIGINS.',
    remedies: toSetting(`PUBLIC_ORIGINS=${site.origin}`),
  };
}

/** @param tls undefined for a site of http. @param now milliseconds since 1970 */
export async function checkConnection(site: URL, home: Answer, tls: Tls | undefined, now: number): Promise<Finding[]> {
  const reach = judgeReach(home);
  if (!tls) {
    return [reach, toUnknown('TLS', 'The address is one of http: measure the https one that visitors use.')];
  }
  return [
    reach,
    judgeCertificate(tls, now),
    judgeVersion(tls, home.headers['alt-svc']),
    // On another port nobody knows which one is for http.
    ...(site.port === '' ? [judgeRedirect(await measureRedirect(site), site)] : []),
    judgeStrictTransport(home, site),
  ];
}
