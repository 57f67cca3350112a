import { once } from 'node:events';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { Day, Second } from '../../../shared/units.ts';
import { toPlural } from '../../../shared/words.ts';
import { type Checks, ok, unknown, type Verdict, warning, wrong } from '../finding.ts';
import { type Answer, createAsk, NoAnswerError, toCode } from './ask.ts';
import { REMEDIES } from './remedies.ts';

/** Certificates are usually renewed a month before they expire (days). */
const RENEWAL_LATE = 14;
/** How long a handshake can take (ms). */
const TIMEOUT = 10 * Second;

/** The facts of one TLS connection. */
export interface Tls {
  /** Why the certificate is not trusted: the system's code, such as `CERT_HAS_EXPIRED`. Undefined if it is trusted. */
  readonly error: string | undefined;
  /** Milliseconds since 1970; NaN if unknown. */
  readonly expiresAt: number;
  /** `TLSv1.3` */
  readonly version: string | null;
  /** `h2`, `http/1.1`; false if the server chose no protocol. */
  readonly protocol: string | false | null;
}

/** @throws NoAnswerError */
export async function measureTls(site: URL): Promise<Tls> {
  const host = site.hostname.replace(/^\[|\]$/g, '');
  const socket = connect({
    host,
    port: Number(site.port || 443),
    ...(isIP(host) === 0 && { servername: host }),
    ALPNProtocols: ['h2', 'http/1.1'],
    rejectUnauthorized: false,
  });
  const signal = AbortSignal.timeout(TIMEOUT);
  try {
    await once(socket, 'secureConnect', { signal });
    return {
      // Node types it as an error, but it is a string.
      error: socket.authorized ? undefined : toCode(socket.authorizationError),
      expiresAt: Date.parse(socket.getPeerCertificate().valid_to),
      version: socket.getProtocol(),
      protocol: socket.alpnProtocol,
    };
  } catch (error) {
    throw new NoAnswerError(signal.aborted ? 'TIMEOUT' : toCode(error));
  } finally {
    socket.destroy();
  }
}

const NO_ANSWER_ADVICE: Readonly<Record<string, string>> = {
  ENOTFOUND: 'The name has no address. Check its DNS records.',
  EAI_AGAIN: 'The name could not be looked up, because DNS did not answer.',
  ECONNREFUSED: 'Nothing listens there. Start the proxy, or check its port and the firewall.',
  ECONNRESET: 'The connection was closed. See the log of the proxy.',
  TIMEOUT: 'There was no answer in time. Check the firewall, and that the proxy reaches the server.',
  EPROTO: 'That port does not use TLS. Did you mean http:// ?',
};

/** Rethrows any other error. */
export function judgeNoAnswer(error: unknown): Verdict {
  if (!(error instanceof NoAnswerError)) throw error;
  const { code } = error;
  return wrong(`There was no answer (${code}).`, NO_ANSWER_ADVICE[code] ?? 'See the log of the proxy.');
}

type Head = Pick<Answer, 'status' | 'headers'>;

export interface ConnectionFacts {
  readonly site: URL;
  /** The start page. */
  readonly home: Head;
  /** Undefined for http. */
  readonly tls: Tls | undefined;
  /** The response of `http://`; undefined if nothing listens on port 80. */
  readonly redirect: Head | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export const CONNECTION_CHECKS = {
  /** Does the address lead to Spillway, and does it work? */
  Reachable({ home: { status, headers } }) {
    if (status === 502 || status === 504) {
      return wrong(
        `A proxy answers with ${status}: it cannot reach the server.`,
        'Check that the server is running, and that the proxy has its address and port (HOST, PORT).',
      );
    }
    if (headers['x-request-id'] === undefined) {
      return wrong(
        `The answer has status ${status} and no X-Request-Id. It is not from Spillway, or a proxy removes the header.`,
        'Check that this address leads to the server, and that the proxy passes its headers on.',
      );
    }
    if (status === 421) {
      return wrong(
        'The server answers with 421: it does not know the host in the request.',
        'Add this origin to PUBLIC_ORIGINS, and let the proxy pass Host on. With a token, this command shows which host arrived.',
      );
    }
    if (status >= 500) return wrong(`The start page has status ${status}.`, 'The log says why.');
    return ok(`The start page has status ${status}.`);
  },

  /** Do browsers trust the certificate, and for how long? */
  Certificate({ tls, now }) {
    if (!tls) return undefined;
    const { error, expiresAt, version } = tls;
    const days = Math.floor((expiresAt - now) / Day);
    if (error !== undefined) {
      return wrong(
        `Browsers reject it: ${error}.`,
        days < 0
          ? `It expired ${toPlural(-days, 'day')} ago. Renew it, and reload the proxy.`
          : 'Get one for this name from an authority that browsers trust, and serve it with its intermediate certificates.',
      );
    }
    if (Number.isNaN(days)) return unknown('It does not say when it expires.');
    if (days < RENEWAL_LATE) {
      return warning(
        `It expires in ${toPlural(days, 'day')} and has not been renewed.`,
        'Check that it is renewed automatically, and that the proxy was reloaded since.',
      );
    }
    return ok(`It is valid for ${toPlural(days, 'day')} (${version}).`);
  },

  /** Can a browser load many files at the same time? */
  'HTTP version'({ tls, home }) {
    if (!tls) return undefined;
    const third = /\bh3\b/.test(home.headers['alt-svc'] ?? '') ? ', and HTTP/3 is offered' : '';
    if (tls.protocol === 'h2') return ok(`HTTP/2${third}.`);
    return warning(
      `HTTP/1.1${third}: a browser loads only six files at a time.`,
      'Enable HTTP/2 in the proxy.',
      REMEDIES.http2,
    );
  },

  /** Does http lead to https? On other ports, the port of http is unknown. */
  'Redirect to https'({ tls, site, redirect }) {
    if (!tls || site.port !== '') return undefined;
    const advice = 'Redirect http to https with status 308 or 301.';
    if (!redirect) {
      return warning(
        'Nothing answers on port 80: a visitor who types only the name may get an error.',
        advice,
        REMEDIES.redirect,
      );
    }
    const { status, headers } = redirect;
    const to = URL.parse(headers.location ?? '');
    if ((status === 301 || status === 308) && to?.protocol === 'https:') return ok(`${status} to ${to.host}.`);
    if (status >= 300 && status < 400) {
      return warning(
        `It redirects with ${status} to ${to?.origin ?? 'a relative address'}, which browsers do not remember as https.`,
        advice,
        REMEDIES.redirect,
      );
    }
    return wrong(
      `Over http the site answers with ${status}. Anyone on the network path can read and change that.`,
      advice,
      REMEDIES.redirect,
    );
  },

  /** Do browsers remember to use https? */
  HSTS({ tls, site, home }) {
    if (!tls) return undefined;
    const seconds = Number(/max-age="?(\d+)/i.exec(home.headers['strict-transport-security'] ?? '')?.[1] ?? 0);
    if (seconds > 0) return ok(`Browsers remember https for ${toPlural(Math.round((seconds * Second) / Day), 'day')}.`);
    return warning(
      'There is no Strict-Transport-Security: the server believes that visitors use http.',
      'Add the https origin to PUBLIC_ORIGINS.',
      { setting: `PUBLIC_ORIGINS=${site.origin}` },
    );
  },

  TLS({ tls }) {
    return tls ? undefined : unknown('This is an http address. Check the https one that visitors use.');
  },
} satisfies Checks<ConnectionFacts>;

/** Requests `http://` on port 80, if that leads to the same site. */
export async function measureRedirect(site: URL): Promise<Answer | undefined> {
  if (site.protocol !== 'https:' || site.port !== '') return undefined;
  try {
    return await createAsk(new URL(`http://${site.hostname}/`))({ path: '/' });
  } catch {
    return undefined;
  }
}
