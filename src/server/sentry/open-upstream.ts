import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Reporter } from '../engine/errors/failure.ts';
import type { FailureLinks } from '../engine/errors/failure-links.ts';
import type { Count } from '../engine/monitoring/count.ts';
import { createOutbox, type Outbox } from './outbox.ts';

/** Sentry, as a destination of failures. */
export interface OpenUpstream {
  /** Empty if no upstream is configured. */
  readonly reporters: readonly Reporter[];
  readonly outbox: Outbox | undefined;
  /** Continues sending for up to two seconds. Anything left stays on disk. */
  close(): Promise<void>;
}

export interface OpenUpstreamOptions {
  readonly config: Config;
  readonly debugIds?: Readonly<Record<string, string>> | undefined;
  readonly count: Count;
  readonly toUrl: FailureLinks['toUrl'];
  readonly log: Logger;
}

/** Opens the queue to the project of SENTRY_DSN. Without that setting, the SDK is not loaded. */
export async function openUpstream({
  config,
  debugIds,
  count,
  toUrl,
  log,
}: OpenUpstreamOptions): Promise<OpenUpstream> {
  const { sentryDsn: dsn, sentryEnvironment: environment, dataDir, publicOrigins } = config;
  if (!dsn) return { reporters: [], outbox: undefined, close: async () => undefined };
  const folder = join(dataDir, 'outbox');
  const outbox = createOutbox({ folder, dsn, count, warn: (sentence) => log.warn(sentence) });
  const { createSentryReporter } = await import('./sentry.ts');
  const reporter = createSentryReporter({ dsn, outbox, count, environment, origin: publicOrigins[0], toUrl, debugIds });
  return { reporters: [reporter], outbox, close: () => outbox.close() };
}
