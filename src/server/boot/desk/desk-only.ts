import { routes } from '../../../shared/desk/routes.tsx';
import { printSignInLink } from '../../desk/access/print-sign-in-link.ts';
import { orClose } from '../../desk/desk.ts';
import { createDeskOrigins } from '../../desk/desk-app.ts';
import { createDeskPages } from '../../desk/pages/desk-pages.ts';
import { DESK_SETTINGS } from '../../desk/settings.ts';
import { indexPublicFiles } from '../../engine/assets/public-files.ts';
import { readOpenFileLimit, toMaxConnections } from '../../engine/connection/connection-limits.ts';
import { createDrain } from '../../engine/connection/drain.ts';
import { listen, toHttpUrl } from '../../engine/connection/listen.ts';
import { metricsPage } from '../../engine/monitoring/fixed-paths.ts';
import { createProxyTrust } from '../../engine/protection/proxy-trust.ts';
import { readSettings } from '../../engine/settings.ts';
import { bootstrap } from '../bootstrap.ts';
import { openFailures } from '../open-failures.ts';
import { announce, serveUntilStopped } from '../serve-until-stopped.ts';
import { watchServer } from '../watch-server.ts';
import { createDeskServer } from './create-desk-server.ts';
import { openDeskSide } from './open-desk-side.ts';
import { DESK_LINKS, findLinkHolder } from './open-destination.ts';
import { watchDesk } from './watch-desk.ts';

/** Returns what starts in place of the site. */
export function findOtherStart(): ((dist: string) => Promise<void>) | undefined {
  const { DESK_ONLY } = DESK_SETTINGS;
  return readSettings({ DESK_ONLY }, process.env).DESK_ONLY ? startDesk : undefined;
}

/**
 * Starts only the desk with its store and health checks, and nothing of the product.
 *
 * @param dist the folder of the build
 */
async function startDesk(dist: string): Promise<void> {
  const boot = await bootstrap(dist);
  const { config, manifest, log, flush, metrics } = boot;
  const failures = openFailures(boot, { routes, links: DESK_LINKS });
  const { funnel, inFlight } = failures;
  // No heartbeats, so that a monitor notices that the site is down.
  const side = await openDeskSide(boot, failures, { beats: false });
  const { desk, signIn, facts, mayRead } = side;
  const where = { host: config.host, port: config.deskPort ?? config.port };
  const origins = createDeskOrigins(toHttpUrl(where.host, where.port));
  const deskPages = await createDeskPages({
    desk,
    signIn: signIn.signIn,
    facts,
    manifest,
    funnel,
    log,
    origins,
  });
  const { server, connections } = createDeskServer(boot, failures, side, {
    origins,
    trust: createProxyTrust(config.trustProxy),
    maxConnections: toMaxConnections(readOpenFileLimit()),
    readiness: {
      get draining() {
        return drain.draining;
      },
      details: () => ({ ...desk.condition }),
    },
    files: indexPublicFiles(dist),
    desk: deskPages,
    metricsPage: metricsPage({ metrics, mayRead: config.deskPort === undefined ? mayRead : async () => true }),
  });
  const drain = createDrain({
    server,
    connections,
    onStop: deskPages.endStreams,
    lag: config.drainLag,
    deadline: config.drainDeadline,
  });
  watchServer({ metrics, inFlight, connections, drain });
  watchDesk(metrics, desk);
  serveUntilStopped({ config, drain, destination: desk, funnel, close: () => desk.close(), log, flush });

  const url = await orClose(desk, listen(server, where));
  announce(url, log);
  log.warn('DESK_ONLY is set, so only the desk is served. Unset it to serve the site again.');
  const linkFor = findLinkHolder(boot);
  if (linkFor !== undefined) await printSignInLink(signIn.makeLink(url, linkFor), log);
  await side.settleIn();
}
