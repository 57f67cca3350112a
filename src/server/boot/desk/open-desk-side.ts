import { randomUUID } from 'node:crypto';
import { flushCompileCache } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { Millisecond, Second } from '../../../shared/units.ts';
import { toMayRead } from '../../access/bearer.ts';
import { openSignIn } from '../../desk/access/open-sign-in.ts';
import { toProxySignIn } from '../../desk/access/proxy-operator.ts';
import { createDeskApi } from '../../desk/api/desk-api.ts';
import { openDesk } from '../../desk/desk.ts';
import { createKeepFeedback } from '../../desk/ingest/keep-feedback.ts';
import { openVisitors } from '../../desk/ingest/open-visitors.ts';
import { toDeskOrigin, toNotifySettings } from '../../desk/notifications/to-notify-settings.ts';
import type { DeskFacts } from '../../desk/pages/context.ts';
import { createRouteHours } from '../../desk/route-hours.ts';
import { presentNotify } from '../../desk/views/present-notify.ts';
import { recordBlockedLoop } from '../../desk/worker/processes/blocked-loop.ts';
import type { Bootstrap } from '../bootstrap.ts';
import type { Failures } from '../open-failures.ts';

/** The store of failures and the access of operators. The pages are created later, with the site's. */
export type DeskSide = Awaited<ReturnType<typeof openDeskSide>>;

/** From the start of the server until it does what the first answers do not need (ms). */
const SETTLE_AFTER = 250 * Millisecond;
/** The same in development, where the next edit often ends the server before. Its end would wait for the thread. */
const SETTLE_AFTER_EDIT = 5 * Second;

export interface DeskSideOptions {
  /** Whether heartbeats are sent to HEARTBEAT_URL. */
  readonly beats: boolean;
}

/** Opens the store and connects the failures to it. */
export async function openDeskSide(boot: Bootstrap, failures: Failures, { beats }: DeskSideOptions) {
  const { config, manifest, release, log, metrics, listed, dist } = boot;
  const proxy = toProxySignIn(config);
  const notifySettings = toNotifySettings(config);
  const notify = notifySettings && (beats ? notifySettings : { ...notifySettings, heartbeatUrl: undefined });
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
  const visitors = openVisitors(desk);
  failures.keepIn({ reporter: desk.reporter, visitors });
  const signIn = openSignIn({ tokens: listed.tokens, proxy, desk });
  const { checkToken } = signIn;
  const run = randomUUID();
  const routeHours = createRouteHours({
    readRoutes: metrics.readRoutes,
    scrubPath: failures.scrubPath,
    store: (rows) => desk.ask('storeRoutes', run, rows),
  });
  const facts: DeskFacts = {
    environment: config.sentryEnvironment,
    release,
    links: { ...config.links, origin: toDeskOrigin(config) },
    notify: presentNotify(notify),
    flushRoutes: routeHours.flush,
  };
  return {
    desk,
    noteRequest: routeHours.note,
    visitors,
    /** For all sources of feedback. */
    feedback: createKeepFeedback({ desk, environment: config.sentryEnvironment }),
    signIn,
    facts,
    api: createDeskApi({ desk, facts, checkToken }),
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
