import { SECURITY_HEADERS } from '../../engine/protection/security-headers.ts';
import { DESTINATION_CHECKS } from '../destination-checks.ts';
import { type Checks, ok, unknown, warning, wrong } from '../finding.ts';
import type { Answer, Ask } from './ask.ts';
import { REMEDIES } from './remedies.ts';

/** A host that cannot exist (RFC 6761). */
const STRANGE_HOST = 'doctor.invalid';

type Head = Pick<Answer, 'status' | 'headers'>;

/** Responses to requests without credentials. */
export interface ExposureFacts {
  readonly site: URL;
  /** The start page. */
  readonly home: Pick<Answer, 'distinct'>;
  readonly metrics: Pick<Answer, 'status'>;
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
      'Do not let a proxy add a token, and do not expose a port for operators to visitors.',
      { ...DESTINATION_CHECKS.hideMetrics, ...REMEDIES.hideMetrics },
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

/** @throws NoAnswerError */
export async function measureExposure(ask: Ask): Promise<Omit<ExposureFacts, 'site' | 'home'>> {
  const [metrics, strange] = await Promise.all([
    ask({ path: '/metrics' }),
    ask({ path: '/', headers: { Host: STRANGE_HOST } }),
  ]);
  return { metrics, strange };
}
