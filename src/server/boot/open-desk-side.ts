import type { RequestHandler } from 'express';
import { toMayRead } from '../desk/access/bearer.ts';
import { type OpenSignIn, openSignIn } from '../desk/access/open-sign-in.ts';
import { toProxySignIn } from '../desk/access/proxy-operator.ts';
import { createDeskApi } from '../desk/api/desk-api.ts';
import { type Desk, openDesk } from '../desk/desk.ts';
import { createKeepFeedback, type KeepFeedback } from '../desk/ingest/feedback/keep-feedback.ts';
import { openVisitors, type Visitors } from '../desk/ingest/tunnel/visitors.ts';
import { toNotifySettings } from '../desk/notifications/to-notify-settings.ts';
import type { DeskFacts } from '../desk/pages/context.ts';
import { recordBlockedLoop } from '../desk/worker/processes/blocked-loop.ts';
import type { MayRead } from '../engine/monitoring/may-read.ts';
import { toDeskFacts } from './desk-facts.ts';
import type { Failures } from './open-failures.ts';
import type { Ground } from './open-ground.ts';

/** What keeps failures, and lets operators at them; its pages come later, with the site's. */
export interface DeskSide {
  readonly desk: Desk;
  readonly visitors: Visitors;
  /** For all ways that feedback arrives by. */
  readonly feedback: KeepFeedback;
  readonly signIn: OpenSignIn;
  readonly facts: DeskFacts;
  readonly api: RequestHandler;
  /** For what programs read of the server itself. */
  readonly mayRead: MayRead;
}

export interface DeskSideOptions {
  /** Whether the address in HEARTBEAT_URL hears that all is well. */
  readonly beats: boolean;
}

/** Opens the store, and has failures kept there. */
export async function openDeskSide(ground: Ground, failures: Failures, { beats }: DeskSideOptions): Promise<DeskSide> {
  const { config, manifest, release, log, metrics, tokens, dist } = ground;
  const proxy = toProxySignIn(config);
  const told = toNotifySettings(config);
  const notify = told && (beats ? told : { ...told, heartbeatUrl: undefined });
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
  });
  const visitors = openVisitors(desk);
  failures.keepIn(desk, visitors.toVisitor);
  const signIn = openSignIn({ tokens, proxy, desk });
  const { checkToken } = signIn;
  const facts = toDeskFacts(config, release, notify);
  return {
    desk,
    visitors,
    feedback: createKeepFeedback({ desk, environment: config.sentryEnvironment }),
    signIn,
    facts,
    api: createDeskApi({ desk, facts, checkToken }),
    mayRead: toMayRead(checkToken),
  };
}
