import { SECURITY_HEADERS } from '../../engine/http/security-headers.ts';
import { type Finding, toOk, toSetting, toUnknown } from '../finding.ts';
import type { Answer, Ask } from './ask.ts';
import { HEADERS_ONCE, HIDE_METRICS } from './remedies.ts';

/** A host that is nobody's (RFC 6761). */
const STRANGE_HOST = 'doctor.invalid';
const DESK_LIST = '/api/desk/incidents';

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

export function judgeDesk({ status, headers }: Pick<Answer, 'status' | 'headers'>): Finding {
  const about = 'Desk';
  const isOpen = status === 200 && headers['content-type']?.includes('json') === true;
  if (!isOpen) return toOk(about, `Without a token its API is answered with ${status}.`);
  return {
    about,
    mark: 'wrong',
    found: 'Everybody can read what failed.',
    advice:
      'A proxy signs everybody in: have it ask who they are first (AUTH_PROXY_HEADER), or add no token by itself.',
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

/** @throws NoAnswerError */
export async function checkExposure(ask: Ask, site: URL, home: Answer): Promise<Finding[]> {
  const [metrics, desk, strange] = await Promise.all([
    ask({ path: '/metrics' }),
    ask({ path: DESK_LIST }),
    ask({ path: '/', headers: { Host: STRANGE_HOST } }),
  ]);
  return [judgeSecurityHeaders(home), judgeMetrics(metrics), judgeDesk(desk), judgeStrangeHost(strange, site)];
}
