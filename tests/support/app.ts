import type { RequestListener } from 'node:http';
import { type RequestHandler, Router } from 'express';
import { type Logger, pino } from 'pino';
import { onTestFinished } from 'vitest';
import { jsonBody } from '../../src/server/api/body-parsers.ts';
import type { SiteApi } from '../../src/server/api/mount-api.ts';
import { resource } from '../../src/server/api/resource.ts';
import { createApp, type PortParts, type SiteParts, type TrackerParts } from '../../src/server/app.ts';
import { toConnectionLimits } from '../../src/server/connection/admission.ts';
import {
  createHttpServer,
  type HttpServerOptions,
  type HttpServerRecords,
} from '../../src/server/connection/http-server.ts';
import { createFunnel } from '../../src/server/errors/funnel.ts';
import { SECURITY_HEADERS } from '../../src/server/front/security-headers.ts';
import { KEEP_ALIVE_TIMEOUT, MAX_CONNECTIONS, REQUEST_TIMEOUT, SOCKET_TIMEOUT } from '../../src/server/limits.ts';
import type { PageSteps } from '../../src/server/pages/page-handlers.ts';
import { createOrigins } from '../../src/server/request/origins.ts';
import { createOwnsPath } from '../../src/server/request/paths.ts';
import { createProxyTrust } from '../../src/server/request/proxy-trust.ts';
import { requestInfo } from '../../src/server/request/request-info.ts';
import { listen } from './listen.ts';
import { noPathScrubber, testMaker } from './unguarded.ts';

export interface TestAppOptions
  extends Partial<PortParts['rules'] & PortParts['records'] & PortParts['answers']>,
    Partial<Omit<SiteParts, 'api'>> {
  readonly api?: SiteApi['parts'];
  readonly apiDocument?: SiteApi['document'];
  readonly apiStore?: SiteApi['store'];
  readonly apiOrigins?: SiteApi['origins'];
  readonly tracker?: TrackerParts | undefined;
  readonly publicOrigins?: readonly string[];
  readonly trustProxy?: number | readonly string[];
}

/** Server options for tests: no proxy is trusted, and connection limits are as in production. */
export const TEST_SERVER: HttpServerOptions = {
  times: { keepAlive: KEEP_ALIVE_TIMEOUT, request: REQUEST_TIMEOUT, socket: SOCKET_TIMEOUT },
  headers: SECURITY_HEADERS,
  limits: toConnectionLimits(MAX_CONNECTIONS),
  trust: createProxyTrust(),
};

export const toTestUrl = (address: string) => `/failures/${address}`;

/** A log that collects its lines. */
export interface LogSpy {
  readonly log: Logger;
  readonly lines: Record<string, unknown>[];
}

export function spyOnLog(): LogSpy {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { log, lines };
}

/** Pages without React: `/` and `/admin` return their path and how they were requested. */
export function createFakePages(overrides: Partial<PageSteps> = {}): PageSteps {
  const known = new Set(['/', '/admin', '/orders']);
  const say: RequestHandler = (req, res) => {
    const info = requestInfo(req);
    info.route = info.path;
    res
      .type('html')
      .set('Cache-Control', 'no-store')
      .send(`<p>${req.method} ${info.url.href.replaceAll('&', '&amp;')}</p>`);
  };
  return {
    data: (req, res, next) => {
      const { path } = requestInfo(req);
      if (known.has(path.slice('/_data'.length)) && path.startsWith('/_data/')) res.json({ path });
      else next();
    },
    pages: (req, res, next) => {
      if (known.has(requestInfo(req).path) && ['GET', 'HEAD', 'POST'].includes(req.method)) say(req, res, next);
      else next();
    },
    toLanguage: undefined,
    inMemory: (_req, _res, next) => next(),
    visitors: () => (_req, _res, next) => next(),
    keepCookiesPrivate: (_req, _res, next) => next(),
    notFound: (_req, res) =>
      void res.status(404).type('html').set('Cache-Control', 'no-store').send('<h1>Page not found</h1>'),
    renderError: async (_req, res, error) => void res.status(error.status).type('html').send(`<h1>${error.kind}</h1>`),
    acceptsPostsFrom: (path, origin) => path === '/orders' && origin === 'https://pay.example',
    isRendered: (path) => known.has(path) || known.has(path.replace(/^\/_data(?=\/)/, '')),
    isPage: (path) => known.has(path) || known.has(path.replace(/^\/_data(?=\/)/, '')),
    ...overrides,
  };
}

/** An API with one route that echoes and one that fails. */
export function createFakeApi(): Router {
  const api = Router();
  api.use(
    resource('/echo', {
      GET: (_req, res) => void res.json({ ok: true }),
      POST: [...jsonBody({ limit: 1000 }), (req, res) => void res.json(req.body)],
    }),
  );
  api.use(
    resource('/fail', {
      GET: () => {
        throw new Error('canary postgres://user:secret@db/');
      },
    }),
  );
  return api;
}

/** The real app with fake dependencies. */
export function createTestApp(options: TestAppOptions = {}) {
  const { publicOrigins = [], trustProxy, tracker, ...parts } = { api: createFakeApi(), ...options };
  const log = parts.log ?? pino({ enabled: false });
  return createApp(
    {
      rules: {
        origins: createOrigins(publicOrigins, 'http://localhost:3000'),
        trust: createProxyTrust(trustProxy),
        takeCredentials: (_req, _res, next) => next(),
        isTrackers: createOwnsPath({ paths: ['/desk', '/api/desk'] }),
        ...parts,
      },
      records: {
        log,
        funnel: createFunnel(testMaker, { log, toUrl: toTestUrl }),
        scrubPath: noPathScrubber,
        ...parts,
      },
      answers: { readiness: { draining: false }, files: new Map(), ...parts },
    },
    {
      pages: createFakePages(),
      overload: undefined,
      steps: [],
      ...parts,
      api: { parts: parts.api, document: parts.apiDocument, store: parts.apiStore, origins: parts.apiOrigins },
    },
    tracker,
  );
}

export interface TestServer {
  readonly port: number;
  close(): void;
}

/** Starts the real HTTP server on a free port. */
export async function serve(
  listener: RequestListener,
  { log = pino({ enabled: false }), count, ...options }: Partial<HttpServerOptions & HttpServerRecords> = {},
): Promise<TestServer> {
  const { server } = createHttpServer(listener, { ...TEST_SERVER, ...options }, { log, count });
  return {
    port: await listen(server),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Serves the real app with fake dependencies, until the test ends. `lines` has its log, unless it gets another one. */
export async function startTestServer(
  options: TestAppOptions = {},
  of: Partial<HttpServerOptions & HttpServerRecords> = {},
): Promise<TestServer & Pick<LogSpy, 'lines'>> {
  const { log, lines } = spyOnLog();
  const all = { log, ...options };
  const server = await serve(createTestApp(all), { ...of, log: all.log });
  onTestFinished(server.close);
  return { ...server, lines };
}
