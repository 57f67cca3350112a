import type { RequestListener } from 'node:http';
import type { RequestHandler } from 'express';
import { expectContinue } from '../../server/connection/http-server.ts';
import { lateWrites } from '../../server/connection/late-writes.ts';
import { errorHandler } from '../../server/errors/error-handler.ts';
import type { Funnel } from '../../server/errors/funnel.ts';
import { createExpress, type FirstStepsDeps, firstSteps } from '../../server/first-steps.ts';
import { assets } from '../../server/front/assets.ts';
import { compress } from '../../server/front/compress.ts';
import { crossSite } from '../../server/front/cross-site.ts';
import type { PublicFile } from '../../server/front/public-files.ts';
import { notFoundHere } from '../../server/request/http-error.ts';
import { createOrigins, type Origins } from '../../server/request/origins.ts';
import { chain, type ErrorHandler, intoExpress, type Step } from '../../server/request/step.ts';
import { DESK_API_PATH } from './api/desk-api.ts';
import type { DeskPages } from './pages/desk-pages.ts';

export interface DeskAppDeps extends FirstStepsDeps {
  readonly funnel: Funnel;
  readonly files: ReadonlyMap<string, PublicFile>;
  readonly desk: DeskPages;
  readonly api: RequestHandler;
  readonly compression?: boolean;
  /** Receives browser reports from the desk's pages. */
  readonly tunnel?: (fail: ErrorHandler) => Step;
}

/**
 * Accepts any host on the desk's separate port, because an internal network can have any name or address for it. A form
 * must still come from the host that it is posted to.
 */
export function createDeskOrigins(listening: string): Origins {
  return createOrigins([], listening);
}

/** Creates the request handler of the desk's separate port. It serves nothing of the product. */
export function createDeskApp(deps: DeskAppDeps): RequestListener {
  const { funnel, origins, trust, files, desk, api } = deps;
  const fail = errorHandler({ funnel });
  const front = [...firstSteps(deps), ...(deps.tunnel ? [deps.tunnel(fail)] : []), assets({ files })];
  const app = createExpress(trust);

  app.use(crossSite({ origins }));
  app.use(expectContinue());
  if (deps.compression) app.use(compress());
  app.use(lateWrites({ funnel }));
  app.use(desk.step);
  app.use(DESK_API_PATH, api);
  app.get('/', (_req, res) => void res.set('Cache-Control', 'no-store').redirect(302, '/desk'));
  app.use(() => {
    throw notFoundHere();
  });
  app.use(fail);

  return chain(front, intoExpress(app, fail), fail);
}
