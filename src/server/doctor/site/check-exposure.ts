import { SECURITY_HEADERS } from '../../engine/protection/security-headers.ts';
import { type Checks, ok, unknown, warning, wrong } from '../finding.ts';
import type { Answer, Ask } from './ask.ts';
import { REMEDIES } from './remedies.ts';

/** A host that cannot exist (RFC 6761). */
const STRANGE_HOST = 'doctor.invalid';
const DESK_API = '/api/desk/incidents';
/** A page and its data, because a proxy's sign-in can cover only the first. */
const DESK_PAGES = ['/desk', '/desk/_data'];

/** Headers of authenticating proxies that name a person: oauth2-proxy, Authelia, Cloudflare Access, Tailscale. */
const NAME_HEADERS = [
  'X-Forwarded-User',
  'X-Forwarded-Email',
  'X-Forwarded-Preferred-Username',
  'X-Auth-Request-User',
  'X-Auth-Request-Email',
  'X-Remote-User',
  'Remote-User',
  'Remote-Email',
  'X-WebAuth-User',
  'X-User',
  'Cf-Access-Authenticated-User-Email',
  'Tailscale-User-Login',
];

type Head = Pick<Answer, 'status' | 'headers'>;

/** Responses to requests without credentials. */
export interface ExposureFacts {
  readonly site: URL;
  /** The start page. */
  readonly home: Pick<Answer, 'distinct'>;
  readonly metrics: Pick<Answer, 'status'>;
  readonly deskApi: Head;
  /** In the order of `DESK_PAGES`. */
  readonly deskPages: readonly Head[];
  /** The same pages, requested with a made-up name in the headers of authenticating proxies. */
  readonly forgedPages: readonly Head[];
  /** The start page for a host that does not exist. */
  readonly strange: Head;
}

export const EXPOSURE_CHECKS = {
  /** Does the proxy add or remove security headers? */
  'Security headers'({ home: { distinct } }) {
    const names = SECURITY_HEADERS.map(([name]) => name.toLowerCase());
    const doubled = names.filter((name) => (distinct[name]?.length ?? 0) > 1);
    if (doubled.length > 0) {
      return warning(
        `The proxy adds headers that the server already sends: ${doubled.join(', ')}. Browsers use the stricter one, the first one, or neither.`,
        'Leave them to the server, which knows what each page needs.',
        REMEDIES.headersOnce,
      );
    }
    const missing = names.filter((name) => distinct[name] === undefined);
    if (missing.length === 0) return ok('The start page has each of them once.');
    return warning(
      `The start page lacks ${missing.join(', ')}.`,
      'Let the proxy pass on what the server sends, or check whether a step of your app removes them.',
    );
  },

  /** Are the metrics hidden from visitors? */
  Metrics({ metrics: { status } }) {
    if (status !== 200) return ok(`Without a token, /metrics has status ${status}.`);
    return wrong(
      'Anyone can read /metrics.',
      'Do not expose DESK_PORT to visitors, and do not let a proxy add a token.',
      REMEDIES.hideMetrics,
    );
  },

  /** Is the desk closed to visitors? */
  Desk({ deskApi, deskPages }) {
    const isApiOpen = deskApi.status === 200 && deskApi.headers['content-type']?.includes('json') === true;
    if (isApiOpen || deskPages.some(isOpenPage)) {
      return wrong(
        'Anyone can read your failures.',
        'A proxy signs everyone in. Let it authenticate visitors first (AUTH_PROXY_HEADER), and do not let it add a token.',
      );
    }
    return ok(`Without a token, its API has status ${deskApi.status} and its pages ${deskPages[0]?.status}.`);
  },

  /** Does the desk ignore a name that a visitor makes up? */
  'Forged sign-in'({ deskPages, forgedPages }) {
    if (deskPages.some(isOpenPage)) return unknown('The desk is open without it.');
    const open = DESK_PAGES.filter((_path, index) => forgedPages[index] && isOpenPage(forgedPages[index]));
    if (open.length === 0) return ok('The desk ignores a name that a visitor sends.');
    return wrong(
      `A visitor who sends a name in the header of the authenticating proxy can read the desk: ${open.join(', ')}.`,
      'The proxy passes on the name that the visitor sent, and adds its secret. Replace the header in every request, and send the secret only with requests that the proxy has authenticated.',
      REMEDIES.replaceName,
    );
  },

  /** Is the site served only under its own names? */
  'Other hosts'({ strange: { status, headers }, site }) {
    const isOurs = headers['x-request-id'] !== undefined;
    if (!isOurs || status === 421) return ok(`A request for an unknown host has status ${status}.`);
    if (status >= 400) return unknown(`A request for an unknown host has status ${status}.`);
    return warning('The site is served under any name that leads here.', 'Set the origins that visitors use.', {
      setting: `PUBLIC_ORIGINS=${site.origin}`,
    });
  },
} satisfies Checks<ExposureFacts>;

/** Checks for the desk's header against crawlers, because the site can have another page at this path. */
function isOpenPage({ status, headers }: Head): boolean {
  return status === 200 && String(headers['x-robots-tag']).includes('noindex');
}

/**
 * @param authProxyHeader the setting AUTH_PROXY_HEADER, if this environment has it
 * @throws NoAnswerError
 */
export async function measureExposure(
  ask: Ask,
  authProxyHeader: string | undefined,
): Promise<Omit<ExposureFacts, 'site' | 'home'>> {
  const forgery = Object.fromEntries(NAME_HEADERS.concat(authProxyHeader ?? []).map((name) => [name, 'doctor']));
  const [metrics, deskApi, strange, deskPages, forgedPages] = await Promise.all([
    ask({ path: '/metrics' }),
    ask({ path: DESK_API }),
    ask({ path: '/', headers: { Host: STRANGE_HOST } }),
    Promise.all(DESK_PAGES.map((path) => ask({ path }))),
    Promise.all(DESK_PAGES.map((path) => ask({ path, headers: forgery }))),
  ]);
  return { metrics, deskApi, strange, deskPages, forgedPages };
}
