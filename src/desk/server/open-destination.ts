import { type RequestHandler, Router } from 'express';
import type { OperatorApp } from '../../server/app.ts';
import type { Config } from '../../server/config.ts';
import { listen, toHttpUrl } from '../../server/connection/listen.ts';
import type { FailureLinks } from '../../server/errors/failure.ts';
import { requestInfo } from '../../server/request/request-info.ts';
import type { Bootstrap } from '../../server/start/bootstrap.ts';
import type { Destination, OperatorParts, Operators } from '../../server/start/destination.ts';
import type { Failures } from '../../server/start/open-failures.ts';
import { routes } from '../shared/routes.tsx';
import { DESK_API_PATH } from './api/desk-api.ts';
import { createDeskServer } from './create-desk-server.ts';
import { orClose } from './desk.ts';
import { createDeskOrigins } from './desk-app.ts';
import { isTakenByDesk } from './desk-path.ts';
import { type DeskSide, openDeskSide } from './open-desk-side.ts';
import { createDeskPages, type DeskPages } from './pages/desk-pages.ts';
import { startRevalidations } from './share-revalidations.ts';
import { watchDesk } from './watch-desk.ts';

/** The share of the open connections for DESK_PORT. */
const DESK_SHARE = 1 / 16;

/** The desk shows every failure, to those who are signed in. */
export const DESK_LINKS: FailureLinks = {
  toUrl: (address) => `/desk/${address.replace('-', '/')}`,
  arePublic: false,
};

export function toFailureLinks(_config: Config): FailureLinks {
  return DESK_LINKS;
}

/** Opens the desk as the place that failures go to. */
export async function openDestination(boot: Bootstrap, failures: Failures): Promise<Destination> {
  const side = await openDeskSide(boot, failures);
  const { desk, visitors, mayRead } = side;
  const { calls } = desk;
  const endRevalidations =
    boot.config.deskDatabaseUrl &&
    startRevalidations({ calls, store: (path) => desk.journalRevalidation(path), log: boot.log });
  return {
    store: {
      journal: (failure) => desk.journal(failure),
      isEchoAwaited: (address) => calls.isEchoAwaited(address),
      isKnownDigest: (digest) => calls.isKnownDigest(digest),
      listBuilds: () => calls.listBuilds(),
    },
    visitors,
    mayRead,
    takeCredentials: side.signIn.takeCredentials,
    findOldAsset: desk.findOldAsset,
    details: () => ({ ...desk.condition }),
    watch: (metrics) => watchDesk(metrics, desk),
    serve: (parts) => serveDesk(boot, failures, side, parts),
    flushSync: (timeoutMs) => void desk.flushSync(timeoutMs),
    close() {
      if (endRevalidations) endRevalidations();
      return desk.close();
    },
    settleIn: side.settleIn,
  };
}

async function serveDesk(
  boot: Bootstrap,
  failures: Failures,
  side: DeskSide,
  { earlyScript, reportPath, traced, ...parts }: OperatorParts,
): Promise<Operators> {
  const { config, manifest } = boot;
  const { desk, signIn, facts, mayRead } = side;
  const at = config.deskPort === undefined ? undefined : { host: config.host, port: config.deskPort };
  const origins = at ? createDeskOrigins(toHttpUrl(at.host, at.port)) : parts.origins;
  const pages = await createDeskPages({
    ...{ calls: desk.calls, signIn: signIn.signIn, facts, manifest, funnel: failures.funnel, log: boot.log },
    ...{ origins, earlyScript, reportPath, traced },
  });
  const connections = at ? Math.ceil(parts.maxConnections * DESK_SHARE) : 0;
  const server = at
    ? createDeskServer(boot, failures, side, {
        origins,
        trust: parts.trust,
        maxConnections: connections,
        readiness: parts.readiness,
        files: parts.files,
        desk: pages,
        metricsPage: parts.metricsPage(async () => true),
        tunnel: parts.toTunnel({ origins, mayOpen: () => false, routes }),
      })
    : undefined;
  let deskUrl: string | undefined;

  return {
    app: at ? undefined : toOperatorApp(pages, side.api),
    metrics: at ? undefined : parts.metricsPage(mayRead),
    mayOpen: at ? () => false : pages.isOperator,
    routes,
    server,
    connections,
    endStreams: () => pages.endStreams(),
    async listen() {
      deskUrl = server && at && (await orClose(desk, listen(server.server, { ...at, setting: 'DESK_PORT' })));
      if (deskUrl !== undefined) boot.log.info(`The desk is on ${deskUrl}/desk`);
    },
    async welcome(url) {
      const name = findLinkHolder(boot);
      if (name === undefined) return;
      await signIn.printLink(deskUrl ?? config.publicOrigins[0] ?? url, name, boot.log);
    },
  };
}

/** Joins pages and API. */
export function toOperatorApp({ knowOperator, step }: Omit<DeskPages, 'endStreams'>, api: RequestHandler): OperatorApp {
  const router = Router().use(step).use(DESK_API_PATH, api);
  return {
    covers: isTakenByDesk,
    knowOperator,
    // A router costs each page as much as several steps.
    step: (req, res, next) => (isTakenByDesk(requestInfo(req).path) ? router(req, res, next) : next()),
  };
}

/** Returns the operator who gets a sign-in link at this start. */
function findLinkHolder({ config, listed }: Bootstrap): string | undefined {
  // Otherwise none: in production, what a process prints is often forwarded and kept.
  const isLocal = config.isLoopback && config.publicOrigins.length === 0;
  return listed.isNew || isLocal ? listed.tokens.find(({ role }) => role === 'operator')?.name : undefined;
}
