import { flushCompileCache } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { Hour, Millisecond } from '../shared/units.ts';
import type { Config } from './config.ts';
import type { FailureLinks } from './errors/failure.ts';
import { createCheckToken, toMayRead } from './front/check-token.ts';
import { createOperatorTokens } from './front/operator-tokens.ts';
import { createVisitors } from './reports/visitors.ts';
import type { Bootstrap } from './start/bootstrap.ts';
import type { Destination, OperatorParts, Operators } from './start/destination.ts';
import type { Failures } from './start/open-failures.ts';

// Where failures go: the log, and Sentry if SENTRY_DSN is set.

/** From the start of the server until it does what the first answers do not need (ms). */
const SETTLE_AFTER = 500 * Millisecond;
/** Addresses of server failures that browsers can report too (a count), and how long (ms). */
const MAX_AWAITED = 10_000;
const AWAITED_TIME = 1 * Hour;

/** Errors of a start whose message says what to do, besides the engine's. */
export const START_ERRORS: readonly (abstract new (...args: never[]) => Error)[] = [];

/** Links to `FAILURE_LINK`, which every visitor sees. */
export function toFailureLinks({ failureLink }: Config): FailureLinks {
  return {
    toUrl: (address) => failureLink?.replaceAll('{digest}', address.slice(0, 8)),
    arePublic: true,
  };
}

export async function openDestination(
  { config, listed, metrics, log }: Bootstrap,
  failures: Failures,
): Promise<Destination> {
  const visitors = createVisitors({ readSalts: async (offers) => offers });
  const known = new Set<string>();
  const awaited = new Map<string, number>();
  const tokens = createOperatorTokens(listed.tokens);
  const mayRead = toMayRead(createCheckToken(tokens));
  failures.keepIn({
    visitors,
    reporter: {
      report({ digest, occurrence, side, kind }) {
        metrics.count('spillway_failures_total', { side, kind });
        remember(`${digest}-${occurrence}`, digest);
        return true; // the funnel's line in the log has it
      },
    },
  });
  return {
    store: {
      journal(failure) {
        const { digest, occurrence, side, kind } = failure;
        metrics.count('spillway_failures_total', { side, kind });
        known.add(digest);
        // Sentry gets the report itself.
        if (config.sentryDsn === undefined)
          log.warn({ digest, occurrence, failure }, 'All of the report of a browser.');
        return true;
      },
      isEchoAwaited: async (address) => Date.now() - (awaited.get(address) ?? 0) < AWAITED_TIME,
      isKnownDigest: (digest) => known.has(digest),
      listBuilds: async () => [],
    },
    visitors,
    mayRead,
    takeCredentials: (_req, _res, next) => next(),
    findOldAsset: undefined,
    details: () => ({}),
    watch: () => undefined,
    serve: async (parts) => serveNothing(parts),
    flushSync: () => undefined,
    close: async () => undefined,
    async settleIn() {
      await sleep(SETTLE_AFTER, undefined, { ref: false });
      flushCompileCache(); // so that a process that is killed also makes the next start faster
    },
  };

  function remember(address: string, digest: string): void {
    known.add(digest);
    awaited.set(address, Date.now());
    const [oldest] = awaited.keys();
    if (awaited.size > MAX_AWAITED && oldest !== undefined) awaited.delete(oldest);
  }

  /** Operators see nothing here but the metrics. */
  function serveNothing({ metricsPage }: OperatorParts): Operators {
    return {
      app: undefined,
      metrics: metricsPage(mayRead),
      mayOpen: () => config.failureLink !== undefined,
      routes: [],
      server: undefined,
      connections: 0,
      endStreams: () => undefined,
      listen: async () => undefined,
      welcome: async () => undefined,
    };
  }
}

/** Nothing needs more than valid settings. */
export function checkDestinationSettings(_config: object): void {}
