import { SECURITY_HEADERS } from '../../engine/protection/security-headers.ts';
import { type Finding, toOk, toSetting, toUnknown } from '../finding.ts';
import type { Answer, Ask } from './ask.ts';
import { HEADERS_ONCE, HIDE_METRICS, OWN_NAME } from './remedies.ts';

/** A host that is nobody's (RFC 6761). */
const STRANGE_HOST = 'doctor.invalid';
const DESK_LIST = '/api/desk/incidents';
/** A page and its data: a gate in front of the first may leave out the second. */
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

/** The names of what every answer carries, in lower case. */
const NAMES = SECURITY_HEADERS.map(([name]) => name.toLowerCase());

export function judgeSecurityHeaders({ fields }: Pick<Answer, 'fields'>): Finding {
  const about = 'Security headers';
  const counts = new Map(NAMES.map((name) => [name, fields.filter(([other]) => other === name).length]));
  const pick = (isMeant: (count: number) => boolean) =>
    NAMES.filter((name) => isMeant(counts.get(name) ?? 0)).join(', ');
  const [doubled, missing] = [pick((count) => count > 1), pick((count) => count === 0)];
  if (doubled) {
    return {
      about,
      mark: 'warning',
      found: `The proxy adds what the server sends already: ${doubled}. Browsers take the stricter one, the first, or neither.`,
      advice: 'Leave it to the server, which knows what each page needs.',
      remedies: HEADERS_ONCE,
    };
  }
  if (missing) {
    return {
      about,
      mark: 'warning',
      found: `They do not come with the start page: ${missing}.`,
      advice: 'Pass on what the server sends, unless a step of the app takes them away.',
    };
  }
  return toOk(about, 'Each comes once.');
}

export function judgeMetrics({ status }: Pick<Answer, 'status'>): Finding {
  const about = 'Metrics';
  if (status !== 200) return toOk(about, `Without a token they are answered with ${status}.`);
  return {
    about,
    mark: 'wrong',
    found: 'Everybody can read /metrics.',
    advice: 'Let visitors not reach DESK_PORT, nor a proxy that adds a token by itself.',
    remedies: HIDE_METRICS,
  };
}

type Seen = Pick<Answer, 'status' | 'headers'>;

/** @param pages of the desk */
export function judgeDesk(api: Seen, pages: readonly Seen[]): Finding {
  const about = 'Desk';
  const isApiOpen = api.status === 200 && api.headers['content-type']?.includes('json') === true;
  if (!isApiOpen && !pages.some(isOpenPage)) {
    return toOk(about, `Without a token its API is answered with ${api.status}, its pages with ${pages[0]?.status}.`);
  }
  return {
    about,
    mark: 'wrong',
    found: 'Everybody can read what failed.',
    advice:
      'A proxy signs everybody in: have it ask who they are first (AUTH_PROXY_HEADER), or add no token by itself.',
  };
}

/** Only the desk's pages refuse crawlers: the site may have another page at this address. */
function isOpenPage({ status, headers }: Seen): boolean {
  return status === 200 && String(headers['x-robots-tag']).includes('noindex');
}

/**
 * @param pages of the desk, without credentials
 * @param forged the same pages, with a made-up name in the headers of authenticating proxies
 */
export function judgeForgedName(pages: readonly Seen[], forged: readonly Seen[]): Finding {
  const about = 'Forged sign-in';
  if (pages.some(isOpenPage)) return toUnknown(about, 'The desk is open without it.');
  const open = DESK_PAGES.filter((_path, index) => forged[index] && isOpenPage(forged[index]));
  if (open.length === 0) {
    return toOk(about, 'The desk ignores a name that a visitor sends.');
  }
  return {
    about,
    mark: 'wrong',
    found: `A visitor who sends a name in the header of the authenticating proxy can read the desk: ${open.join(', ')}.`,
    advice:
      'The proxy passes on the name that the visitor sent, and adds its secret. Replace the header in every request, and send the secret only with requests that the proxy has authenticated.',
    remedies: OWN_NAME,
  };
}

/** @param answer to a host that is nobody's */
export function judgeStrangeHost({ status, headers }: Pick<Answer, 'status' | 'headers'>, site: URL): Finding {
  const about = 'Other hosts';
  const isOurs = headers['x-request-id'] !== undefined;
  if (!isOurs || status === 421) return toOk(about, `A host that is nobody's is answered with ${status}.`);
  if (status >= 400) return toUnknown(about, `A host that is nobody's is answered with ${status}.`);
  return {
    about,
    mark: 'warning',
    found: "The site is served under any name that leads here, a stranger's too.",
    advice: 'Say which origins there are.',
    remedies: toSetting(`PUBLIC_ORIGINS=${site.origin}`),
  };
}

export interface ExposureOptions {
  readonly ask: Ask;
  readonly site: URL;
  /** The start page. */
  readonly home: Answer;
  /** The setting AUTH_PROXY_HEADER, if this environment has it. */
  readonly authProxyHeader: string | undefined;
}

/** @throws NoAnswerError */
export async function checkExposure({ ask, site, home, authProxyHeader }: ExposureOptions): Promise<Finding[]> {
  const names = authProxyHeader === undefined ? NAME_HEADERS : [...NAME_HEADERS, authProxyHeader];
  const forgery = Object.fromEntries(names.map((name) => [name, 'doctor']));
  const [metrics, api, strange, pages, forged] = await Promise.all([
    ask({ path: '/metrics' }),
    ask({ path: DESK_LIST }),
    ask({ path: '/', headers: { Host: STRANGE_HOST } }),
    Promise.all(DESK_PAGES.map((path) => ask({ path }))),
    Promise.all(DESK_PAGES.map((path) => ask({ path, headers: forgery }))),
  ]);
  return [
    judgeSecurityHeaders(home),
    judgeMetrics(metrics),
    judgeDesk(api, pages),
    judgeForgedName(pages, forged),
    judgeStrangeHost(strange, site),
  ];
}
