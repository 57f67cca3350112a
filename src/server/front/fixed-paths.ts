import { requestInfo } from '../request/request-info.ts';
import { sendBody, sendJson, sendText } from '../request/send-body.ts';
import type { Step } from '../request/step.ts';
import { type Answer, type CheckToken, forReaders } from './check-token.ts';
import type { Metrics } from './metrics.ts';

/** The answer of one path. */
interface FixedPath {
  /** For the header `Allow`. */
  readonly methods: 'GET, HEAD' | 'GET' | 'POST';
  /** Without a token, this path does not exist. */
  readonly isHidden?: true;
  readonly answer: Answer;
}

export type FixedPaths = Readonly<Record<string, FixedPath>>;

/**
 * Answers paths that are served before the host check, because probes and scrapers name an address as the host.
 * Each path is matched exactly.
 */
export function fixedPaths(tables: readonly FixedPaths[]): Step {
  const paths = new Map(tables.flatMap((table) => Object.entries(table)));
  return function fixedPaths(req, res, next) {
    const info = requestInfo(req);
    const fixed = paths.get(info.path);
    if (!fixed || (fixed.isHidden && req.headers.authorization === undefined)) return next();
    info.route = info.path;
    const methods = fixed.methods.split(', ');
    if (methods.includes(info.method)) return fixed.answer(req, res);
    res.setHeader('Allow', fixed.methods);
    sendText(res, 405, `Use ${methods[0]}.`);
  };
}

export interface Readiness {
  /** The server is about to stop and should get no new work. */
  readonly draining: boolean;
  /** More facts for operators, such as that a store is unavailable. They do not affect readiness. */
  readonly details?: () => Readonly<Record<string, string>>;
}

/**
 * Liveness asks only the process. Readiness fails only during the drain: a part that does not work must not take
 * the whole site down.
 */
export function health(readiness: Readiness): FixedPaths {
  return {
    '/livez': { methods: 'GET, HEAD', answer: (_req, res) => sendText(res, 200, 'ok') },
    '/readyz': {
      methods: 'GET, HEAD',
      answer(_req, res) {
        const { draining, details } = readiness;
        sendJson(res, draining ? 503 : 200, { status: draining ? 'draining' : 'ready', ...details?.() });
      },
    },
  };
}

/**
 * Serves the metrics to Prometheus. A scraper sends a token, which no other site can make a browser send.
 *
 * @param checkToken undefined to answer everybody
 */
export function metricsPage(
  metrics: Pick<Metrics, 'write' | 'contentType'>,
  checkToken: CheckToken | undefined,
): FixedPaths {
  const answer = forReaders(checkToken, async (_req, res) => {
    sendBody(res, 200, { type: metrics.contentType, body: await metrics.write() });
  });
  return { '/metrics': { methods: 'GET, HEAD', answer } };
}
