import { setTimeout as sleep } from 'node:timers/promises';
import { type RequestHandler, Router } from 'express';
import { type Funnel, type OpenedTracker, recordPatterns, type TrackerHost } from '#engine/tracker';
import { Millisecond, Second } from '../../shared/units.ts';
import { DESK_API_PATH, DESK_PATH } from '../shared/href.ts';
import { START_PATH, TICKET_KEY } from '../shared/ticket.ts';
import { createCanOpen } from './access/access.ts';
import { takeCredentials } from './access/credentials.ts';
import { createSignIn, makeTicket } from './access/sign-in.ts';
import { DESK_COUNTERS } from './counters.ts';
import { type Desk, openDesk } from './desk.ts';
import type { DeskFacts } from './facts.ts';
import { createVisitors } from './ingest/visitors.ts';
import { createTargets } from './notifications/targets.ts';
import type { DeskSettings } from './read-settings.ts';
import { startRevalidations } from './share-revalidations.ts';
import type { BlockedLoop } from './worker/watchdog.ts';

/** From the start of the server until it does what the first answers do not need (ms). */
const SETTLE_AFTER = 250 * Millisecond;
/** The same in development, where the next edit often ends the server before. Its end would wait for the thread. */
const SETTLE_AFTER_EDIT = 5 * Second;

/** Opens the store, and creates what signed-in people see. */
export async function openTracker(host: TrackerHost, settings: DeskSettings): Promise<OpenedTracker> {
  const { config, build, records, access, dropCached } = host;
  const { dist, manifest, release } = build;
  const { log, metrics, funnel, inFlight } = records;
  const { tokens, checkToken } = access;
  const { databaseUrl, retention, proxy, notify, links } = settings;
  const { sentryEnvironment: environment, digestNamespace: namespace, dataDir } = config;
  const desk = await openDesk(
    {
      running: { build: manifest.buildId, release, environment, namespace, dist },
      storing: { dataDir, databaseUrl, retention, notify },
      inFlight,
      startWithin: process.env.SPILLWAY_DEV ? SETTLE_AFTER_EDIT : SETTLE_AFTER,
    },
    {
      log,
      count: metrics.addCounters(DESK_COUNTERS),
      onBlocked: (report) => recordBlockedLoop(funnel, report),
    },
  );
  const { calls } = desk;
  const visitors = createVisitors(calls);
  const signIn = createSignIn({ tokens, sessions: calls, checkToken });
  const facts: DeskFacts = {
    environment,
    release,
    links,
    targets: notify ? createTargets(notify).map(({ name }) => name) : [],
  };
  if (notify && notify.deskOrigin === undefined) {
    log.warn(
      'Links in notifications have no host, because the address of the desk is not known. Set DESK_ORIGIN, for example DESK_ORIGIN=https://desk.example.com.',
    );
  }
  const home = config.deskPort === undefined ? '/' : DESK_PATH;
  let shown: Promise<RequestHandler> | undefined;
  const revalidations = databaseUrl
    ? startRevalidations({ calls, store: desk.journalRevalidation, dropCached, log })
    : undefined;
  registerGauges(metrics, desk);

  async function show(): Promise<RequestHandler> {
    const { createDeskPages } = await import('./pages/desk-pages.ts');
    const { createDeskApi } = await import('./api/desk-api.ts');
    const pages = await createDeskPages({ calls, signIn, facts, home }, host);
    const router = Router().use(pages).use(DESK_API_PATH, createDeskApi({ calls, facts, checkToken }));
    recordPatterns(router);
    return router;
  }

  return {
    takeCredentials: takeCredentials(proxy, access.trust),
    record: (failure, visitor) => desk.journal({ ...failure, visitor: visitor && visitors.toVisitor(visitor) }),
    canOpen: createCanOpen(signIn),
    // Pages and API take time and memory, and most processes are never asked for them.
    async handle(req, res, next) {
      shown ??= show().catch((error) => {
        shown = undefined; // for example without a free file descriptor
        throw error;
      });
      (await shown)(req, res, next);
    },
    findAsset: desk.findOldAsset,
    isKnown: calls.isKnownDigest,
    isEchoAwaited: calls.isEchoAwaited,
    listBuilds: calls.listBuilds,
    shareRevalidation: revalidations?.share,
    async ready(origin, isFirst) {
      await sleep(isFirst ? SETTLE_AFTER : SETTLE_AFTER_EDIT, undefined, { ref: false });
      visitors.start();
      const holder = isFirst ? findLinkHolder(host) : undefined;
      if (holder === undefined) return;
      try {
        const link = `${origin}${START_PATH}?${TICKET_KEY}=${await makeTicket(tokens, calls, holder)}`;
        // On standard error, because logs are often forwarded and kept.
        process.stderr.write(`Open this first, it signs you in to the desk (once, within 15 minutes): ${link}\n`);
      } catch (error) {
        log.warn(
          { err: error },
          'No sign-in link could be created. Sign in with OPERATOR_TOKEN, or with the token in DATA_DIR/desk-token.',
        );
      }
    },
    health: () => ({ ...desk.condition }),
    flushSync: (timeoutMs) => void desk.flushSync(timeoutMs),
    markEnded: desk.markEnded,
    close() {
      revalidations?.end();
      return desk.close();
    },
  };
}

/** Returns the operator who gets a sign-in link at this start. */
function findLinkHolder({ config, access: { tokens, isTokenNew } }: TrackerHost): string | undefined {
  // Otherwise none: in production, what a process prints is often forwarded and kept.
  const isLocal = config.isLoopback && config.publicOrigins.length === 0;
  return isTokenNew || isLocal ? tokens.all.find(({ role }) => role === 'operator')?.name : undefined;
}

/** Records a blocked event loop as a failure. */
function recordBlockedLoop(funnel: Funnel, { at, ms, inFlight }: BlockedLoop): void {
  const message = `The event loop was blocked for ${ms} ms.`;
  funnel.record(
    {
      kind: 'blocked-loop',
      errors: [{ class: 'BlockedLoop', message, frames: [] }],
      extra: { ms, since: new Date(at).toISOString(), inFlight },
    },
    { origin: 'process' },
  );
}

function registerGauges({ gauge }: TrackerHost['records']['metrics'], desk: Desk): void {
  gauge('spillway_store_reachable', '1 if the store of the desk is available.', () =>
    Number(desk.condition.store === 'reachable'),
  );
  gauge(
    'spillway_journal_waiting_bytes',
    'Bytes of the journal that are not in the store yet. They grow while the store is unavailable.',
    () => desk.waitingBytes,
  );
  gauge(
    'spillway_journal_failing',
    '1 if the last failure could not be written to the journal. It is only in the log.',
    () => Number(desk.condition.journal === 'failing'),
  );
  gauge('spillway_desk_store_bytes', 'Size of what the desk stores at the last measurement.', () => desk.storedBytes);
  gauge('spillway_desk_worker_running', '1 if the desk worker is running and responsive.', () =>
    Number(desk.condition.worker === 'running'),
  );
  gauge('spillway_desk_calls_pending', 'Calls that the desk worker has not answered yet.', () => desk.pendingCalls);
}
