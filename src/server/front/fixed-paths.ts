import type { IncomingMessage, ServerResponse } from 'node:http';
import { Second } from '../../shared/units.ts';
import { isFromProxy, type ProxyTrust } from '../request/client-address.ts';
import type { PROBE_PATHS } from '../request/paths.ts';
import { requestInfo } from '../request/request-info.ts';
import { sendBody, sendJson, sendText } from '../request/send-body.ts';
import { onClose, type Step } from '../request/step.ts';
import { type CheckToken, type FixedAnswer, forReaders } from './check-token.ts';
import { readHost, readScheme } from './host-check.ts';
import type { Metrics } from './metrics.ts';

/** The answer of one path. */
interface FixedPath {
  /** For the header `Allow`. */
  readonly methods: 'GET, HEAD' | 'GET' | 'POST';
  /** Without a token, this path does not exist. */
  readonly isHidden?: true;
  readonly answer: FixedAnswer;
}

export type FixedPaths = Readonly<Record<string, FixedPath>>;

type Probes = Partial<Record<(typeof PROBE_PATHS)[number], FixedPath>>;

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
  } satisfies Probes;
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
  return { '/metrics': { methods: 'GET, HEAD', answer } } satisfies Probes;
}

/** The path that `npm start -- --check <url>` posts to. */
export const CHECK_PATH = '/_check';

/** The pause before the last line of the answer (ms). A proxy that collects answers removes it. */
export const CHECK_PAUSE = 1 * Second;
/** The pause before the second line (ms). nginx collects only what comes after the first bytes. */
const FIRST_PAUSE = 0.1 * Second;

/** The `X-Forwarded-For` of the command: an address for documentation (RFC 5737), so no proxy has it. */
export const FORGED_ADDRESS = '203.0.113.7';

/** A request as the server saw it: the first line of the answer. */
export interface SeenRequest {
  /** The visitor's address, as in the log. */
  readonly address: string;
  readonly scheme: 'http' | 'https';
  readonly host: string | undefined;
  /** Whether TRUST_PROXY includes the other end of the connection. */
  readonly isPeerTrusted: boolean;
  /** Whether a proxy added a header or changed the forged address. */
  readonly isForwarded: boolean;
  /** The size of the body that arrived. */
  readonly bytes: number;
}

/**
 * Tells operators how their proxy passes on a request. The answer has three lines with pauses between them. It
 * runs before the host check, so that it can name the host that a proxy sent.
 */
export function checkPage({ trust, checkToken }: { trust: ProxyTrust; checkToken: CheckToken }): FixedPaths {
  function answer(req: IncomingMessage, res: ServerResponse): void {
    let bytes = 0;
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    req.on('error', () => undefined); // a caller that leaves needs no answer
    req.on('end', () => sendSeen(res, toSeen(req, bytes)));
  }

  function toSeen(req: IncomingMessage, bytes: number): SeenRequest {
    const isPeerTrusted = isFromProxy(req, trust);
    return {
      address: requestInfo(req).address,
      scheme: readScheme(req, isPeerTrusted),
      host: readHost(req, isPeerTrusted),
      isPeerTrusted,
      isForwarded:
        req.headers['x-forwarded-for'] !== FORGED_ADDRESS ||
        ['x-forwarded-proto', 'forwarded', 'via'].some((name) => name in req.headers),
      bytes,
    };
  }

  return { [CHECK_PATH]: { methods: 'POST', isHidden: true, answer: forReaders(checkToken, answer) } };
}

function sendSeen(res: ServerResponse, seen: SeenRequest): void {
  res.setHeader('Content-Type', 'text/plain; charset=utf-8');
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('X-Accel-Buffering', 'no');
  res.write(`${JSON.stringify(seen)}\n`);
  let timer = setTimeout(() => {
    res.write('more\n');
    timer = setTimeout(() => res.end('end\n'), CHECK_PAUSE);
  }, FIRST_PAUSE);
  onClose(res, () => clearTimeout(timer));
}
