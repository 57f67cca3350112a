import { type RequestHandler, Router } from 'express';
import { type LoaderArgs, requestInfo, type ServerPages } from '#engine/server';
import {
  createContentPolicy,
  createPages,
  errorHandler,
  type LoaderContext,
  type TrackerHost,
  toAppManifest,
  unclaimedMethods,
} from '#engine/tracker';
import type { DeskActions } from '../../shared/actions.ts';
import { Document } from '../../shared/document.tsx';
import { errorPages } from '../../shared/error-pages.tsx';
import { DESK_PATH } from '../../shared/href.ts';
import { routes } from '../../shared/routes.tsx';
import { START_PATH, TICKET_KEY } from '../../shared/ticket.ts';
import { createReadAccess } from '../access/access.ts';
import type { SignIn } from '../access/sign-in.ts';
import { MAX_DESK_FORM_BYTES } from '../desk-limits.ts';
import type { DeskFacts } from '../facts.ts';
import { toShown } from '../views/clean-text.ts';
import type { DeskCalls } from '../worker/desk-calls.ts';
import type { DeskContext } from './context.ts';
import { incident } from './incident.ts';
import { incidents } from './incidents.ts';
import { createLive } from './live.ts';
import { notifications } from './notifications.ts';
import { root } from './root.ts';
import { toPageCalls, unlessAway } from './unless-away.ts';

export const pages = { root, incidents, incident, notifications } satisfies ServerPages<
  typeof routes,
  DeskContext,
  DeskActions
>;

/** Visitors can send any character, and cutting a text leaves the halves of emoji. */
function withShownText(table: typeof pages): typeof pages {
  const cleaned = Object.entries(table).map(([id, page]) => {
    const loader = async (args: LoaderArgs<DeskContext>) =>
      JSON.parse(JSON.stringify(await page.loader(args)), (_name, value) =>
        typeof value === 'string' ? toShown(value) : value,
      );
    return [id, { ...page, loader }];
  });
  return Object.fromEntries(cleaned); // the same pages
}

interface DeskPagesOptions {
  readonly calls: DeskCalls;
  readonly signIn: SignIn;
  readonly facts: DeskFacts;
  /** Where the link that the server prints leads. */
  readonly home: string;
  /** The interval of pings on live streams (ms), for tests. */
  readonly pingInterval?: number | undefined;
}

interface Host {
  readonly build: Pick<TrackerHost['build'], 'manifest'>;
  readonly records: Pick<TrackerHost['records'], 'funnel' | 'log'>;
  readonly access: Pick<TrackerHost['access'], 'origins'>;
  readonly page: Partial<TrackerHost['page']>;
}

/**
 * Creates the desk as a second set of pages, separate from the product's. It answers everything under `/desk` and its page
 * data, including failures, so that no product code can block an operator.
 */
export async function createDeskPages(
  { calls, signIn, facts, home, pingInterval }: DeskPagesOptions,
  { build, records, access, page }: Host,
): Promise<RequestHandler> {
  const { funnel, log } = records;
  const { origins } = access;
  const { earlyScript, reportPath } = page;
  const readAccess = createReadAccess(signIn);
  const pageCalls = toPageCalls(calls);
  const handlers = await createPages<Omit<DeskContext, keyof LoaderContext>>({
    app: {
      family: 'desk',
      base: DESK_PATH,
      routes,
      pages: withShownText(pages),
      document: Document,
      errorPages,
      createContext: async ({ request, response }) => ({
        access: await readAccess(request, response),
        calls: pageCalls,
        facts,
      }),
    },
    server: {
      manifest: toAppManifest(build.manifest, 'desk'),
      funnel,
      log,
      // The desk shows untrusted text, so the policy forbids even `style` attributes.
      policy: createContentPolicy({}, { earlyScript, reportPath, styleAttributes: false }),
      origins,
      // The desk has no render limit, so that operators can see what keeps the site busy.
      limiter: undefined,
    },
    settings: { isSecret: true, maxActionBytes: MAX_DESK_FORM_BYTES },
  });

  const live = createLive({ readChanges: calls.readChanges, readAccess, origins, pingInterval });

  const router = Router();
  router.use(keepPrivate);
  router.get(START_PATH, async (req, res) => {
    const ticket = String(req.query[TICKET_KEY] ?? '');
    const access = await readAccess(req, res);
    // Previews of links send HEAD, which must not use up the ticket.
    const canSignIn = ticket !== '' && !access.operator && req.method === 'GET';
    const isIn = canSignIn ? (await unlessAway(access.signIn({ ticket }))).kind === 'signed-in' : access.operator;
    const again = ticket && `?${new URLSearchParams({ [TICKET_KEY]: ticket })}`;
    res.redirect(303, isIn ? home : DESK_PATH + again);
  });
  router.use(live);
  router.use(handlers.data);
  router.use(handlers.pages);
  router.use(unclaimedMethods());
  router.use(handlers.notFound);
  router.use(errorHandler({ funnel, renderError: handlers.renderError }));

  return function desk(req, res, next) {
    if (isDeskPath(requestInfo(req).path)) router(req, res, next);
    else next();
  };
}

/** Applies to every response. Other sites must not learn the desk's URLs from the referrer. */
const keepPrivate: RequestHandler = function keepPrivate(_req, res, next) {
  res.setHeader('X-Robots-Tag', 'noindex, nofollow');
  res.setHeader('Referrer-Policy', 'same-origin');
  res.setHeader('Cache-Control', 'no-store');
  next();
};

function isDeskPath(path: string): boolean {
  return path === DESK_PATH || path.startsWith(`${DESK_PATH}/`);
}
