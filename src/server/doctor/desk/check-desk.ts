import { DESK_SETTINGS } from '../../desk/settings.ts';
import type { Environment } from '../../engine/settings.ts';
import { readSettings } from '../../engine/settings.ts';
import { type Checks, type Finding, judge, type Lines, ok, unknown, wrong } from '../finding.ts';
import type { Answer, Ask } from '../site/ask.ts';

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
export interface DeskFacts {
  readonly deskApi: Head;
  /** In the order of `DESK_PAGES`. */
  readonly deskPages: readonly Head[];
  /** The same pages, requested with a made-up name in the headers of authenticating proxies. */
  readonly forgedPages: readonly Head[];
}

const REPLACE_NAME: Lines = {
  nginx: 'proxy_set_header X-Forwarded-User $remote_user;    # or "" where nginx does not authenticate',
  HAProxy: 'http-request del-header X-Forwarded-User',
  Caddy: 'header_up -X-Forwarded-User',
};

export const DESK_EXPOSURE_CHECKS = {
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
      REPLACE_NAME,
    );
  },
} satisfies Checks<DeskFacts>;

/** Checks for the desk's header against crawlers, because the site can have another page at this path. */
function isOpenPage({ status, headers }: Head): boolean {
  return status === 200 && String(headers['x-robots-tag']).includes('noindex');
}

/** @throws NoAnswerError */
export async function checkDesk(ask: Ask, env: Environment): Promise<Finding[]> {
  const { AUTH_PROXY_HEADER } = readSettings({ AUTH_PROXY_HEADER: DESK_SETTINGS.AUTH_PROXY_HEADER }, env);
  const forgery = Object.fromEntries(NAME_HEADERS.concat(AUTH_PROXY_HEADER || []).map((name) => [name, 'doctor']));
  const [deskApi, deskPages, forgedPages] = await Promise.all([
    ask({ path: DESK_API }),
    Promise.all(DESK_PAGES.map((path) => ask({ path }))),
    Promise.all(DESK_PAGES.map((path) => ask({ path, headers: forgery }))),
  ]);
  return judge(DESK_EXPOSURE_CHECKS, { deskApi, deskPages, forgedPages });
}
