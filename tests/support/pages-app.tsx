import { type ClientRequest, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { pino } from 'pino';
import type { ComponentType } from 'react';
import { Outlet } from 'react-router';
import { createFailureMaker } from '../../src/server/errors/create-failure.ts';
import { createFunnel } from '../../src/server/errors/funnel.ts';
import { createContentPolicy } from '../../src/server/front/content-policy.ts';
import { createPages, type PageSteps } from '../../src/server/pages/page-handlers.ts';
import type { PageApp, PageServer, PageSettings } from '../../src/server/pages/page-runtime.ts';
import { createEarlyScript } from '../../src/server/pages/render/early-script.ts';
import type { ServerPage } from '../../src/server/pages/server-page.ts';
import { createAppLog } from '../../src/server/request/app-log.ts';
import { createOrigins } from '../../src/server/request/origins.ts';
import type { ErrorPageProps, ErrorPages } from '../../src/shared/rendering/engine-context.ts';
import type { DocumentProps } from '../../src/shared/rendering/language.ts';
import type { PageModule, RouteDefinition } from '../../src/shared/routing/routes.ts';
import { createDecoder } from '../../src/shared/wire/decode.ts';
import type { AssetManifest } from '../../src/shared/wire/manifest.ts';
import type { PagePayload } from '../../src/shared/wire/payload.ts';
import { ACTION_ACCEPT } from '../../src/shared/wire/protocol.ts';
import { spyOnLog, startTestServer, type TestAppOptions } from './app.ts';
import { noScrubber } from './unguarded.ts';

/** A route with its component and its server file in one place. */
export interface TestPage extends Omit<RouteDefinition, 'page' | 'children'> {
  /** By default, it shows only the page below it. */
  readonly view?: ComponentType;
  readonly ErrorBoundary?: ComponentType;
  /** Loads the module, instead of the two above. */
  readonly page?: RouteDefinition['page'];
  /** Style sheets that the build would list for the page. */
  readonly styles?: readonly string[];
  // biome-ignore lint/suspicious/noExplicitAny: a test's loader gets the context that the test passes
  readonly server?: ServerPage<unknown, any>;
  readonly children?: readonly TestPage[];
}

/** Options of the pages, and of the app around them. */
export type PagesAppOptions = Partial<Pick<PageApp, 'createContext' | 'document' | 'errorPages'>> &
  Partial<Pick<PageServer, 'limiter' | 'traces' | 'findTaker'> & PageSettings> &
  Pick<TestAppOptions, 'publicOrigins' | 'steps' | 'routes' | 'existingApp' | 'overload' | 'tracker' | 'metrics'>;

export const BUILD_ID = 'BUILD7K3Q';

/** Headers of a form, and of one that is posted with JavaScript. */
export const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
export const DATA = { ...FORM, Accept: ACTION_ACCEPT };

export function TestDocument({ lang, head, children }: DocumentProps) {
  return (
    <html lang={lang}>
      <head>
        <meta charSet="utf-8" />
        {head}
      </head>
      <body>{children}</body>
    </html>
  );
}

function sayKind({ error, host }: ErrorPageProps) {
  return (
    <section data-error={error.kind}>
      <meta name="robots" content="noindex" />
      <h1>
        {error.kind === 'failure'
          ? `Application error: a client-side exception has occurred while loading the host ${host}`
          : (error.message ?? error.kind)}
      </h1>
      {error.digest && <code>{error.digest}</code>}
    </section>
  );
}

export const TEST_ERROR_PAGES: ErrorPages = {
  notFound: sayKind,
  forbidden: sayKind,
  unauthorized: sayKind,
  public: sayKind,
  failure: sayKind,
};

export type PagesApp = Awaited<ReturnType<typeof startPages>>;

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  /** Called with the whole decoded text so far, whenever more arrives. */
  readonly onText?: (text: string) => void;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The decoded chunks, with the time since the request was sent (ms). */
  readonly chunks: readonly { readonly at: number; readonly text: string }[];
}

interface TestPagesOptions {
  readonly app?: Partial<PageApp>;
  readonly server: Partial<PageServer> & Pick<PageServer, 'funnel' | 'origins'>;
  readonly settings?: Partial<PageSettings>;
}

/** Creates the page steps of a route table. */
export function createTestPages(
  table: readonly TestPage[],
  { app, server: given, settings }: TestPagesOptions,
): Promise<PageSteps> {
  const all = flatten(table);
  return createPages({
    app: {
      routes: table.map(toRoute),
      pages: Object.fromEntries(all.map(({ id, server }) => [id, server ?? null])),
      document: TestDocument,
      errorPages: TEST_ERROR_PAGES,
      ...app,
    },
    server: {
      manifest: toManifest(all),
      policy: createContentPolicy(
        {},
        { earlyScript: createEarlyScript({ tunnel: '/_report', build: BUILD_ID }), styleAttributes: true },
      ),
      limiter: undefined,
      log: createAppLog(pino({ enabled: false })),
      ...given,
    },
    settings: { isSecret: false, ...settings },
  });
}

/** Serves a route table with the real app, on a free port, until the test ends. */
export async function startPages(table: readonly TestPage[], options: PagesAppOptions = {}) {
  const { log, lines } = spyOnLog();
  const funnel = createFunnel(createFailureMaker({ build: BUILD_ID }, { scrubber: noScrubber }), { log });
  const { publicOrigins = [], steps, routes, existingApp, overload, tracker, metrics, ...pageOptions } = options;
  const {
    createContext,
    document = TestDocument,
    errorPages = TEST_ERROR_PAGES,
    limiter,
    traces,
    findTaker,
    ...settings
  } = pageOptions;
  const origins = createOrigins(publicOrigins, 'http://localhost:3000');
  const compression = options.compression ?? false;
  const pages = await createTestPages(table, {
    app: { createContext, document, errorPages },
    server: { log: createAppLog(log), funnel, origins, limiter, traces, ...(findTaker && { findTaker }) },
    settings,
  });
  const app = { steps: steps ?? [], routes, existingApp, overload, tracker, metrics };
  const { port } = await startTestServer({ ...app, log, funnel, origins, pages, compression });
  const open = (path: string, { method, headers }: AskOptions = {}): ClientRequest =>
    httpRequest({ host: '127.0.0.1', port, path, method, headers, agent: false });
  const ask = (path: string, options: AskOptions = {}) => readReply(open(path, options), options);
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    /** All log lines. */
    lines,
    /** Log lines of failures. */
    failures: () => lines.filter((line) => line.msg === 'A request failed.'),
    /** Sends a request, and leaves reading and aborting to the test. */
    open,
    ask,
    /** Posts a form. */
    post: (path: string, body: AskOptions['body'], headers?: AskOptions['headers']) =>
      ask(path, { method: 'POST', headers: { ...FORM, ...headers }, body }),
  };
}

/** Serves one page at `/page`. */
export const startPage = (page: Partial<TestPage>, options?: PagesAppOptions) =>
  startPages([{ id: 'page', path: '/page', ...page }], options);

/** Sends a request and reads the response as it arrives, decompressed. */
export function readReply(request: ClientRequest, { body, onText }: AskOptions = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    request.on('error', reject);
    request.on('response', (response) => {
      const chunks: { at: number; text: string }[] = [];
      const unpack = { gzip: createGunzip, br: createBrotliDecompress }[response.headers['content-encoding'] ?? ''];
      const source = unpack ? response.pipe(unpack()) : response;
      const decoder = new TextDecoder();
      let text = '';
      source.on('data', (bytes: Buffer) => {
        const chunk = decoder.decode(bytes, { stream: true });
        text += chunk;
        chunks.push({ at: performance.now() - startedAt, text: chunk });
        onText?.(text);
      });
      response.on('error', reject);
      source.on('error', reject);
      source.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, chunks });
      });
    });
    request.end(body);
  });
}

/** A document as the browser parses it. */
export interface ParsedDocument {
  readonly payload: PagePayload;
  readonly decoder: ReturnType<typeof createDecoder>;
  /** The encoded line in the payload block. */
  readonly head: string;
  readonly deferred: readonly string[];
}

/**
 * Reads payload and deferred values from a document, from page data or from an action response: a line for the page,
 * then one for each deferred value.
 *
 * @throws if a document contains no payload
 */
export function parsePage(text: string): ParsedDocument {
  const [head, ...deferred] = text.startsWith('{') ? text.split('\n').filter((line) => line !== '') : listBlocks(text);
  if (head === undefined) throw new Error(`There is no payload in: ${text.slice(0, 400)}`);
  const decoder = createDecoder();
  const payload = decoder.head(head) as PagePayload;
  for (const line of deferred) decoder.deferred(line);
  return { payload, decoder, head, deferred };
}

function listBlocks(html: string): string[] {
  const blocks = html.matchAll(
    /<script type="application\/json" (?:id="spillway-payload"|data-late)[^>]*>(.*?)<\/script>/gs,
  );
  return [...blocks].map(([, line = '']) => line);
}

export function createGate<Value = void>() {
  return Promise.withResolvers<Value>();
}

/** The message of an error, which must be found only in the log. */
export const CANARY = 'canary-9f2e /srv/secret/canary.ts';

export class CanaryError extends Error {
  override readonly name = 'CanaryError';
  readonly password = 'canary-password';

  constructor(message = CANARY) {
    super(message);
  }
}

/** Returns the part of a response that reveals a `CanaryError` or a stack. */
export function leakIn(text: string, headers: object = {}): string | undefined {
  return /.{0,40}(?:canary|Canary|\bat [\w.<>]+ \(|\.tsx?\b|node_modules|Error:).{0,40}/.exec(
    text + JSON.stringify(headers),
  )?.[0];
}

function flatten(table: readonly TestPage[]): TestPage[] {
  return table.flatMap((page) => [page, ...flatten(page.children ?? [])]);
}

function toRoute({
  id,
  path,
  view = Outlet,
  ErrorBoundary,
  page,
  mode,
  searchKeys,
  children,
}: TestPage): RouteDefinition {
  const module: PageModule = { default: view, ErrorBoundary };
  return { id, path, mode, searchKeys, page: page ?? (async () => module), children: children?.map(toRoute) };
}

function toManifest(pages: readonly TestPage[]): AssetManifest {
  return {
    buildId: BUILD_ID,
    entry: { script: '/assets/main-A1.js', preloads: ['/assets/react-B2.js'], styles: [] },
    routes: Object.fromEntries(
      pages.map(({ id, styles = [] }) => [
        id,
        { script: `/assets/${id}-C3.js`, preloads: [`/assets/${id}-part-D4.js`], styles },
      ]),
    ),
  };
}
