import { flushCompileCache } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Funnel } from '../../server/errors/funnel.ts';
import { toMayRead } from '../../server/front/check-token.ts';
import type { Bootstrap } from '../../server/start/bootstrap.ts';
import type { Failures } from '../../server/start/open-failures.ts';
import { Millisecond, Second } from '../../shared/units.ts';
import { openSignIn } from './access/open-sign-in.ts';
import { toProxySignIn } from './access/proxy-operator.ts';
import { createDeskApi } from './api/desk-api.ts';
import { openDesk } from './desk.ts';
import { openVisitors } from './ingest/open-visitors.ts';
import { toDeskOrigin, toNotifySettings } from './notifications/to-notify-settings.ts';
import type { DeskFacts } from './pages/context.ts';
import { presentNotify } from './views/present-notify.ts';
import type { BlockedLoop } from './worker/watchdog.ts';

/** The store of failures and the access of operators. The pages are created later, with the site's. */
export type DeskSide = Awaited<ReturnType<typeof openDeskSide>>;

/** From the start of the server until it does what the first answers do not need (ms). */
const SETTLE_AFTER = 250 * Millisecond;
/** The same in development, where the next edit often ends the server before. Its end would wait for the thread. */
const SETTLE_AFTER_EDIT = 5 * Second;

/** Opens the store and connects the failures to it. */
export async function openDeskSide(boot: Bootstrap, failures: Failures) {
  const { config, manifest, release, log, metrics, listed, dist } = boot;
  const proxy = toProxySignIn(config);
  const notify = toNotifySettings(config);
  const desk = await openDesk({
    dataDir: config.dataDir,
    databaseUrl: config.deskDatabaseUrl,
    build: manifest.buildId,
    release,
    environment: config.sentryEnvironment,
    namespace: config.digestNamespace,
    retention: config.deskRetention,
    dist,
    notify,
    inFlight: () => failures.inFlight.list(),
    onBlockedLoop: (report) => recordBlockedLoop(failures.funnel, report),
    count: metrics.count,
    log,
    startWithin: process.env.SPILLWAY_DEV ? SETTLE_AFTER_EDIT : SETTLE_AFTER,
  });
  const visitors = openVisitors(desk.calls);
  failures.keepIn({ reporter: { report: (failure) => desk.journal(failure) }, visitors });
  const signIn = openSignIn({ tokens: listed.tokens, proxy, calls: desk.calls });
  const { checkToken } = signIn;
  const facts: DeskFacts = {
    environment: config.sentryEnvironment,
    release,
    links: { ...config.links, origin: toDeskOrigin(config) },
    notify: presentNotify(notify),
  };
  return {
    desk,
    visitors,
    signIn,
    facts,
    api: createDeskApi({ calls: desk.calls, facts, checkToken }),
    /** For endpoints that programs read, such as the metrics. */
    mayRead: toMayRead(checkToken),
    /** Waits for a moment, then does what the first answers do not need. Call it once the server listens. */
    async settleIn({ isEdited = false } = {}) {
      await sleep(isEdited ? SETTLE_AFTER_EDIT : SETTLE_AFTER, undefined, { ref: false });
      visitors.refresh();
      flushCompileCache(); // so that a process that is killed also makes the next start faster
    },
  };
}

/** Records a blocked event loop as a failure. */
function recordBlockedLoop(funnel: Funnel, { at, ms }: BlockedLoop): void {
  const message = `The event loop was blocked for ${ms} ms.`;
  funnel.record(
    {
      kind: 'blocked-loop',
      errors: [{ class: 'BlockedLoop', message, frames: [] }],
      extra: { ms, since: new Date(at).toISOString() },
    },
    { origin: 'process' },
  );
}
