import { Router } from 'express';
import request, { type Test } from 'supertest';
import { onTestFinished, vi } from 'vitest';
import { createCanOpen } from '../../../src/desk/server/access/access.ts';
import { takeCredentials } from '../../../src/desk/server/access/credentials.ts';
import { createSignIn, makeTicket } from '../../../src/desk/server/access/sign-in.ts';
import { createDeskApi } from '../../../src/desk/server/api/desk-api.ts';
import { desk } from '../../../src/desk/server/index.ts';
import type { DeskLinks } from '../../../src/desk/server/links.ts';
import { createDeskPages } from '../../../src/desk/server/pages/desk-pages.ts';
import type { SqlDriver } from '../../../src/desk/server/store/sql.ts';
import { openSqlite } from '../../../src/desk/server/store/sqlite.ts';
import { openStore } from '../../../src/desk/server/store/store.ts';
import { createAnswers } from '../../../src/desk/server/worker/answers.ts';
import type { DeskCalls } from '../../../src/desk/server/worker/desk-calls.ts';
import { DESK_API_PATH } from '../../../src/desk/shared/href.ts';
import { createApp } from '../../../src/server/app.ts';
import { createFailureMaker } from '../../../src/server/errors/create-failure.ts';
import { createFunnel } from '../../../src/server/errors/funnel.ts';
import { createCheckToken } from '../../../src/server/front/check-token.ts';
import { createTokens, type OperatorToken } from '../../../src/server/front/tokens.ts';
import { createOrigins } from '../../../src/server/request/origins.ts';
import { createOwnsPath } from '../../../src/server/request/paths.ts';
import { createProxyTrust } from '../../../src/server/request/proxy-trust.ts';
import { toSecondOrigins } from '../../../src/server/start/basics.ts';
import type { AssetManifest } from '../../../src/shared/wire/manifest.ts';
import { createTestApp, spyOnLog, type TestAppOptions } from '../../support/app.ts';
import { ADA, VERA } from '../../support/people.ts';
import { createTestLog } from '../../support/test-log.ts';
import { noPathScrubber, noScrubber } from '../../support/unguarded.ts';

const ORIGIN = 'http://127.0.0.1';

const MANIFEST: AssetManifest = {
  buildId: 'BUILD7K3Q',
  entry: { script: '/assets/main-1.js', preloads: [], styles: [] },
  routes: {},
  apps: { desk: { entry: { script: '/assets/desk-1.js', preloads: [], styles: [] }, routes: {} } },
};

export interface DeskSiteOptions {
  /** What an authenticating proxy sends. */
  readonly proxy?: { readonly header: string; readonly secret: string; readonly operators: readonly string[] };
  readonly publicOrigins?: readonly string[];
  readonly trustProxy?: readonly string[];
  /** The store's database. Defaults to an in-memory SQLite. */
  readonly driver?: SqlDriver;
  readonly links?: DeskLinks;
  /** Replaces calls of the desk worker. */
  readonly calls?: Partial<DeskCalls>;
  /** The ping interval of live pages (ms). */
  readonly pingInterval?: number;
  /** Other parts of the app, such as the product's steps. */
  readonly deps?: TestAppOptions;
}

export type DeskSite = Awaited<ReturnType<typeof startDeskSite>>;

/** Starts the real app and desk with an in-memory store and a clock that the test controls. */
export async function startDeskSite(options: DeskSiteOptions = {}) {
  const driver = options.driver ?? openSqlite(':memory:', { log: createTestLog().log });
  const store = await openStore(driver, { environment: 'test' });
  // Like the desk worker, with everything in the store.
  const answers = createAnswers({
    withStore: (work) => work(store),
    writer: { settle: async () => undefined, isBehind: false, flush: async () => undefined },
    notifier: { sendTest: async () => [] },
    isShared: false,
    close: () => store.close(),
  });
  const calls: DeskCalls = { ...answers, ...options.calls };

  async function start(tokens: readonly OperatorToken[]) {
    const { log, lines } = spyOnLog();
    const funnel = createFunnel(createFailureMaker({ build: MANIFEST.buildId }, { scrubber: noScrubber }), {
      log,
      toUrl: desk.toUrl,
    });
    const { publicOrigins = [], trustProxy = [], proxy } = options;
    const trust = createProxyTrust(trustProxy);
    const origins = createOrigins(publicOrigins, ORIGIN);
    const known = createTokens(tokens);
    const checkToken = createCheckToken(known);
    const facts = { environment: 'test', release: 'v1', links: options.links ?? {}, targets: [] };
    const credentials = {
      takeCredentials: takeCredentials(proxy, trust),
    };
    const signIn = createSignIn({ tokens: known, sessions: calls, checkToken });
    const { pingInterval } = options;
    const host = { build: { manifest: MANIFEST }, records: { funnel, log }, access: { origins }, page: {} };
    const pages = await createDeskPages({ calls, signIn, facts, home: '/', pingInterval }, host);
    const tracker = {
      home: desk.paths[0],
      canOpen: createCanOpen(signIn),
      handle: Router().use(pages).use(DESK_API_PATH, createDeskApi({ calls, facts, checkToken })),
    };
    const app = createTestApp({
      ...{ log, funnel, publicOrigins, trustProxy, tracker },
      ...credentials,
      ...options.deps,
    });
    const alone = createApp(
      {
        rules: {
          ...credentials,
          origins: toSecondOrigins('127.0.0.1', 80),
          trust,
          isTrackers: createOwnsPath(desk),
        },
        records: { log, funnel, scrubPath: noPathScrubber },
        answers: { readiness: { draining: false }, files: new Map() },
      },
      undefined,
      tracker,
    );
    const withCookie = (test: Test, cookie: string | undefined): Test =>
      cookie === undefined ? test : test.set('Cookie', cookie);
    const post = (path: string, fields: Record<string, string>, cookie?: string): Test =>
      withCookie(request(app).post(path), cookie).type('form').send(fields).set('Sec-Fetch-Site', 'same-origin');
    return {
      app,
      /** The desk's own listener. */
      alone,
      /** The store that the pages read. */
      store,
      /** All log lines. */
      lines,
      /** Advances the clock (ms) and ages the store's contents. */
      async pass(ms: number) {
        const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + ms);
        onTestFinished(() => clock.mockRestore());
        await driver.run('UPDATE desk_sessions SET expires_at = expires_at - ?', [ms]);
      },
      /** Creates the ticket of a sign-in link. */
      makeTicket: (name: string) => makeTicket(known, calls, name),
      get: (path: string, cookie?: string) => withCookie(request(app).get(path), cookie),
      /** Posts a form like a browser without scripts. */
      post,
      /** @returns the cookie of a new session */
      async enter(token: string = ADA.token) {
        const reply = await post('/desk', { _action: 'root.signIn', token });
        return toCookie(reply.headers);
      },
    };
  }
  return {
    ...(await start([ADA, VERA])),
    /** Starts the same desk again with other tokens. */
    restart: start,
  };
}

/** Returns the Cookie header that a browser would send back. @throws if no cookie was set */
export function toCookie(headers: Record<string, unknown>): string {
  const [cookie] = headers['set-cookie'] as string[];
  return cookie?.split(';')[0] ?? '';
}

/** Returns the text of a page as a reader sees it, on one line. */
export function toWords(html: string): string {
  return html
    .replace(/<script[\s\S]*?<\/script>|<!-- -->|<wbr\/?>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&#x27;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ');
}
