import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { isNotFoundTransaction, noiseOf } from '../../../shared/engine/reporting/ignored-errors.ts';
import { listPatterns, type RouteLine } from '../../../shared/engine/routing/routes.ts';
import { createDigest } from '../../engine/errors/digest/create-digest.ts';
import type { LocationTable } from '../../engine/errors/digest/location-table.ts';
import type { FailureLinks } from '../../engine/errors/failure-links.ts';
import { listRequestSecrets } from '../../engine/errors/scrub/secret-values.ts';
import type { Scrubber } from '../../engine/errors/scrub.ts';
import { trimFailure } from '../../engine/errors/trim.ts';
import type { Count } from '../../engine/monitoring/count.ts';
import type { Origins } from '../../engine/protection/origins.ts';
import type { ErrorHandler, Step } from '../../engine/request/step.ts';
import type { MayOpen, ReportStore } from '../report-store.ts';
import { createKnownBuilds } from './known-builds.ts';
import type { Upstream } from './report-parts.ts';
import { tunnel } from './tunnel.ts';
import type { Visitors } from './visitors.ts';

interface OpenTunnelOptions {
  readonly path: string;
  readonly store: ReportStore;
  readonly upstream: Upstream | undefined;
  readonly environment: string;
  readonly build: string;
  readonly release: string;
  readonly namespace: string;
  readonly table: () => LocationTable;
  readonly scrubber: Scrubber;
  readonly origins: Origins;
  /** The routes whose patterns are accepted. Senders could invent others. */
  readonly routes: readonly RouteLine[];
  readonly visitors: Visitors;
  readonly toUrl: FailureLinks['toUrl'];
  readonly mayOpen: MayOpen;
  readonly count: Count;
  readonly log: Logger;
}

/**
 * The shortest credential that is scrubbed (UTF-16 code units). A shorter one can be a word of a message,
 * and a value that a visitor has chosen must not change the digest.
 */
const MIN_CREDENTIAL_LENGTH = 16;

/** Creates the tunnel. @returns a function that returns the step for an error handler */
export function openTunnel(options: OpenTunnelOptions): (fail: ErrorHandler) => Step {
  const { store, build, release, namespace, table, scrubber, count, log } = options;
  const patterns = new Set(listPatterns(options.routes));
  const findBuild = createKnownBuilds({ own: { build, release }, list: () => store.listBuilds() });

  return (fail) =>
    tunnel({
      path: options.path,
      origins: options.origins,
      upstream: options.upstream,
      environment: options.environment,
      journal: (failure) => store.journal(failure),
      isEchoAwaited: (address) => store.isEchoAwaited(address),
      makeDigest: (input) => createDigest(input, { namespace, table: table() }),
      isKnownDigest: (digest) => store.isKnownDigest(digest),
      findBuild,
      isRoute: (pattern) => patterns.has(pattern),
      scrubberOf: toRequestScrubber(scrubber),
      trim: trimFailure,
      ignore: ({ errors, request }) => noiseOf({ errors, pageUrl: request?.url }),
      ignoreTransaction: (payload) => (isNotFoundTransaction(payload) ? 'not-found' : undefined),
      visitors: options.visitors,
      toUrl: options.toUrl,
      mayOpen: options.mayOpen,
      count,
      log,
      fail,
    });
}

/** Returns a scrubber that also removes the request's credentials, because its page may repeat them. */
function toRequestScrubber(scrubber: Scrubber): (req: IncomingMessage) => Scrubber {
  return ({ headers }) => scrubber.forReport(listRequestSecrets({ headers }, scrubber).filter(isLong));
}

function isLong(secret: string): boolean {
  return secret.length >= MIN_CREDENTIAL_LENGTH;
}
