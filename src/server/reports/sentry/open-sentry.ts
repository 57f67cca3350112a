import type { ToFailureUrl } from '../../errors/failure.ts';
import type { Count } from '../../request/counters.ts';
import type { Dsn, Sentry } from './sentry.ts';

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
export async function openSentry({ config, debugIds, count, toUrl }: OpenSentryOptions): Promise<Sentry | undefined> {
  const { sentryDsn: dsn, sentryEnvironment: environment, publicOrigins } = config;
  if (!dsn) return undefined;
  const { createSentry } = await import('./sentry.ts');
  return createSentry({ dsn, environment, origin: publicOrigins[0], debugIds, count, toUrl });
}

/** Parses `https://<public key>@<host>/<project>`; undefined if it is invalid. An old secret key is ignored. */
export function parseDsn(text: string): Dsn | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash) return undefined;
  const slash = url.pathname.lastIndexOf('/');
  const projectId = url.pathname.slice(slash + 1);
  const path = url.pathname.slice(0, slash);
  const publicKey = url.username;
  if (!/^\w{1,100}$/.test(publicKey) || !/^\w{1,100}$/.test(projectId)) return undefined;
  return { publicKey, text: `${url.protocol}//${publicKey}@${url.host}${path}/${projectId}` };
}
