import type { ToFailureUrl } from '../../errors/failure.ts';
import type { Count } from '../../request/counters.ts';
import type { Dsn } from './dsn.ts';
import type { Sentry } from './sentry.ts';

interface OpenSentryOptions {
  readonly config: {
    readonly sentryDsn: Dsn | undefined;
    readonly sentryEnvironment: string;
    readonly publicOrigins: readonly string[];
  };
  readonly debugIds?: Readonly<Record<string, string>> | undefined;
  readonly count: Count;
  /** Undefined if nothing shows failures. */
  readonly toUrl: ToFailureUrl | undefined;
}

/** Opens the project of SENTRY_DSN. Without that setting, the SDK is not loaded. */
export async function openSentry({ config, ...options }: OpenSentryOptions): Promise<Sentry | undefined> {
  const { sentryDsn: dsn, sentryEnvironment: environment, publicOrigins } = config;
  if (!dsn) return undefined;
  const { createSentry } = await import('./sentry.ts');
  return createSentry({ dsn, environment, origin: publicOrigins[0], ...options });
}
