import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pino } from 'pino';
import type { Failure } from '../../src/server/errors/failure.ts';
import { createScrubber } from '../../src/server/errors/scrub.ts';
import type { JsonRecord } from '../../src/server/reports/read-report.ts';
import type { MakeReportDigest, Upstream } from '../../src/server/reports/report-parts.ts';
import { toSentryEvent } from '../../src/server/reports/sentry/sentry-event.ts';
import { type TunnelOptions, tunnel } from '../../src/server/reports/tunnel.ts';
import { createOrigins } from '../../src/server/request/origins.ts';
import { requestInfo } from '../../src/server/request/request-info.ts';
import { sendText } from '../../src/server/request/send-body.ts';
import type { Step } from '../../src/server/request/step.ts';
import { toCrockford } from '../../src/shared/reporting/address.ts';
import { createTestApp, serve } from './app.ts';

/** Everything that the tunnel did. */
export interface TunnelSpies {
  readonly failures: Failure[];
  /** Each with the header of its envelope. */
  readonly forwarded: (readonly [header: JsonRecord, payload: JsonRecord])[];
  /** Amounts by `name{label=value}`. */
  readonly counts: Map<string, number>;
  /** Errors passed to `fail`: faults of the tunnel itself. */
  readonly faults: unknown[];
}

/** Groups by class and message. Frames with the prefix `old-` belong to a build that is not available. */
export const makeFakeDigest: MakeReportDigest = ({ kind = 'exception', errors, details = {} }) => {
  const { class: name = kind, message = JSON.stringify(details), frames = [] } = errors[0] ?? {};
  const title = `${name}: ${message}`;
  return {
    digest: toCrockford(createHash('sha256').update(title).digest('hex').slice(0, 10)),
    kind,
    title,
    ...(frames.some(({ file }) => file.includes('old-')) && { unresolved: true }),
  };
};

/** Redacts `hush` and the letters after it. */
const scrubber = createScrubber({ patterns: [/hush\w*/g] });

type Sinks = TunnelOptions['sinks'];

interface FakeOptions
  extends Partial<TunnelOptions['rules'] & TunnelOptions['reading'] & Omit<Sinks, 'tracker'>>,
    Pick<Partial<TunnelOptions>, 'scrubberOf' | 'limits' | 'fail'> {
  readonly tracker?: Partial<NonNullable<Sinks['tracker']>>;
}

export interface TunnelSiteOptions extends FakeOptions {
  readonly publicOrigins?: readonly string[];
  readonly trustProxy?: number | readonly string[];
  /** The DSN of the upstream; undefined for a tunnel without one. */
  readonly upstreamDsn?: string;
  /** Handles requests that the tunnel does not. */
  readonly pages?: (req: IncomingMessage, res: ServerResponse) => void;
}

export type TunnelSite = Awaited<ReturnType<typeof startTunnelSite>>;

const PLENTY = { burst: 1e6, perSecond: 1e6 };

function createUpstream(dsn: string, origin: string | undefined, { forwarded }: TunnelSpies): Upstream {
  const environment = 'production';
  const options = { environment, origin, toUrl: (address: string) => `/failures/${address}` };
  return {
    dsn,
    environment,
    report: (failure) => void forwarded.push([{}, JSON.parse(JSON.stringify(toSentryEvent(failure, options)))]),
    send: (...envelope) => void forwarded.push(envelope),
  };
}

export function createTunnelSpies(): TunnelSpies {
  return { failures: [], forwarded: [], counts: new Map(), faults: [] };
}

/** Creates the real step with fake dependencies and no rate limits. */
export function createFakeTunnel(
  spies: TunnelSpies,
  {
    tracker,
    ...options
  }: FakeOptions & Pick<Sinks, 'log'> & Pick<TunnelOptions['rules'], 'origins'> & Pick<TunnelOptions, 'fail'>,
): Step {
  return tunnel({
    rules: { path: '/_report', ...options },
    reading: {
      makeDigest: makeFakeDigest,
      findBuild: async (named) => {
        if (named === 'build-2' || named === 'v2') return { build: 'build-2', release: 'v2' };
        return named === 'build-1' ? { build: 'build-1', release: 'v1' } : undefined;
      },
      isRoute: (pattern) => pattern === '/orders/:id',
      ...options,
    },
    sinks: {
      tracker: {
        record: (failure, visitor) =>
          spies.failures.push({ ...failure, visitor: visitor?.id ?? visitor?.address ?? '' }) > 0,
        isEchoAwaited: async () => true,
        isKnown: async () => false,
        ...tracker,
      },
      toUrl: (address) => `/failures/${address}`,
      count: (name, labels = {}, by = 1) => {
        const pairs = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
        const key = `${name}{${pairs.join(',')}}`;
        spies.counts.set(key, (spies.counts.get(key) ?? 0) + by);
      },
      ...options,
    },
    scrubberOf: () => scrubber,
    limits: { perAddress: PLENTY, together: PLENTY },
    ...options,
  });
}

/** Starts the real app with the tunnel and fakes. Other requests get a 404 response with their path. */
export async function startTunnelSite(options: TunnelSiteOptions = {}) {
  const { publicOrigins = [], trustProxy, upstreamDsn, pages, ...overrides } = options;
  const spies = createTunnelSpies();
  const log = pino({ enabled: false });
  const origins = createOrigins(publicOrigins, 'http://localhost:3000');
  const upstream = upstreamDsn === undefined ? undefined : createUpstream(upstreamDsn, publicOrigins[0], spies);
  const step = createFakeTunnel(spies, {
    origins,
    upstream,
    log,
    fail: (error, req, res) => {
      spies.faults.push(error);
      sendText(res, 500, `fault at ${req.url}`);
    },
    ...overrides,
  });
  const passed: typeof pages = (req, res) => sendText(res, 404, `passed ${req.method} ${requestInfo(req).path}`);
  // In front of the assets, so that `pages` can serve some.
  const tunnel = (): Step => (req, res, next) =>
    step(req, res, (error) => (error ? next(error) : (pages ?? passed)(req, res)));
  const app = createTestApp({ log, publicOrigins, trustProxy, tunnel });
  const server = await serve(app, { log });
  return Object.assign(spies, { ...server, origin: `http://127.0.0.1:${server.port}` });
}

/** Serializes an envelope like an SDK. A payload that is not text or bytes is written as JSON. */
export function writeEnvelope(
  headers: unknown,
  ...items: readonly (readonly [headers: Record<string, unknown>, payload: unknown])[]
): Buffer {
  const parts = [Buffer.from(JSON.stringify(headers))];
  for (const [itemHeaders, payload] of items) {
    const bytes =
      payload instanceof Uint8Array || typeof payload === 'string'
        ? Buffer.from(payload as string)
        : Buffer.from(JSON.stringify(payload));
    parts.push(Buffer.from(`\n${JSON.stringify(itemHeaders)}\n`), bytes);
  }
  return Buffer.concat(parts);
}

/** An error event of the browser SDK. */
export function createEvent(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    event_id: 'fc6d8c0c43fc4630ad850ee518f1b9d0',
    timestamp: Date.now() / 1000,
    platform: 'javascript',
    level: 'error',
    exception: {
      values: [
        {
          type: 'TypeError',
          value: 'x is not a function',
          mechanism: { type: 'onerror', handled: false },
          stacktrace: { frames: [{ filename: 'https://shop.example/assets/home-X7K2QM2X.js', lineno: 1, colno: 20 }] },
        },
      ],
    },
    ...overrides,
  };
}
