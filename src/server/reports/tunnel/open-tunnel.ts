import type { IncomingMessage } from 'node:http';
import { listPatterns, type RouteLine } from '../../../shared/engine/routing/routes.ts';
import { createDigest } from '../../engine/errors/digest/create-digest.ts';
import type { LocationTable } from '../../engine/errors/digest/location-table.ts';
import { listRequestSecrets } from '../../engine/errors/scrub/secret-values.ts';
import type { Scrubber } from '../../engine/errors/scrub.ts';
import type { ErrorHandler, Step } from '../../engine/request/step.ts';
import type { ReportStore } from '../report-store.ts';
import { createKnownBuilds } from './known-builds.ts';
import { type TunnelOptions, tunnel } from './tunnel.ts';

interface OpenTunnelOptions
  extends Pick<
    TunnelOptions,
    'path' | 'origins' | 'upstream' | 'environment' | 'visitors' | 'toUrl' | 'mayOpen' | 'count' | 'log'
  > {
  readonly store: ReportStore;
  readonly build: string;
  readonly release: string;
  readonly namespace: string;
  readonly table: () => LocationTable;
  readonly scrubber: Scrubber;
  /** The routes whose patterns are accepted. Senders could invent others. */
  readonly routes: readonly RouteLine[];
}

/**
 * The shortest credential that is scrubbed (UTF-16 code units). A shorter one can be a word of a message,
 * and a value that a visitor has chosen must not change the digest.
 */
const MIN_CREDENTIAL_LENGTH = 16;

/** Creates the tunnel. @returns a function that returns the step for an error handler */
export function openTunnel(options: OpenTunnelOptions): (fail: ErrorHandler) => Step {
  const { build, release, namespace, table, scrubber, routes, ...shared } = options;
  const patterns = new Set(listPatterns(routes));
  const findBuild = createKnownBuilds({ own: { build, release }, list: () => shared.store.listBuilds() });

  return (fail) =>
    tunnel({
      ...shared,
      makeDigest: (input) => createDigest(input, { namespace, table: table() }),
      findBuild,
      isRoute: (pattern) => patterns.has(pattern),
      scrubberOf: toRequestScrubber(scrubber),
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
