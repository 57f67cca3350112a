import { createHook } from 'node:async_hooks';
import { existsSync, readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { findFolderInWorkspace } from '../../build/files.mjs';
import { createLocations } from '../../build/locations.mjs';
import { readOwnersBuild } from '../../build/owner.mjs';
import { mapSource } from '../../build/unbundled-maps.mjs';
import { readConfig } from '../../src/server/config.ts';
import type { Product } from '../../src/server/define-product.ts';
import { createFailureMaker } from '../../src/server/errors/create-failure.ts';
import {
  emptyLocationTable,
  isSource,
  type LocationTable,
  parseLocationTable,
} from '../../src/server/errors/digest/location-table.ts';
import { toSourcePath } from '../../src/server/errors/digest/read-error.ts';
import { createFunnel } from '../../src/server/errors/funnel.ts';
import { reportTo } from '../../src/server/errors/report.ts';
import { createContentPolicy } from '../../src/server/front/content-policy.ts';
import { loadExistingApp } from '../../src/server/front/existing-app.ts';
import { createPages } from '../../src/server/pages/page-handlers.ts';
import { createAppLog } from '../../src/server/request/app-log.ts';
import { createOrigins } from '../../src/server/request/origins.ts';
import type { Environment } from '../../src/server/settings.ts';
import { watchProcess } from '../../src/server/start/listen.ts';
import { openServices } from '../../src/server/start/services.ts';
import { createTestApp } from './app.ts';
import { createFolder } from './folder.ts';
import type { RenderTable } from './render-page.tsx';
import { noScrubber } from './unguarded.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const dist = `${root}dist`;
process.env.SPILLWAY_FOLDER = findFolderInWorkspace(root); // a build defines it

export interface ProductAppTable<Settings, Services, Own extends object> extends RenderTable {
  readonly product: Product<Settings, Services, Own>;
  /** Returns settings of each app whose services are opened, such as an empty database. */
  readonly createTestSettings?: () => Promise<Environment>;
}

export interface ProductAppOptions<Services> {
  /** Used in place of what `services.open` returns. */
  readonly services?: Services;
  /**
   * The environment that the settings are read from, in place of the real one. By default it has a `DATA_DIR`, a
   * temporary folder, so that no test reads or changes the data of development, and `createTestSettings()` adds others.
   */
  readonly env?: Environment;
  /**
   * The responses of other servers, by method and URL without its query: `{ 'GET https://api.example/people': 503 }`. A
   * text is the code of a failed connection, such as `ECONNREFUSED`. A request that is not listed fails.
   */
  readonly fetches?: Readonly<Record<string, number | string | (() => Response | Promise<Response>)>>;
}

export interface ProductApp {
  /** For supertest: `request(app).get('/people')`. */
  readonly app: RequestListener;
  /**
   * Returns the failures so far, each as its digest and title: `7K3QM2XA TypeError: …`. Waits for timers of up to 2 s,
   * because they can fail after the response.
   */
  readonly failures: () => Promise<string[]>;
}

/**
 * Returns a function that opens the product with its own pages, API, steps and services, but without a port, a store or
 * a build. Failures get the same digests as in production. It ends with the test.
 */
export function createProductApp<Settings, Services, Own extends object>({
  product,
  routes,
  document,
  errorPages,
  createTestSettings,
}: ProductAppTable<Settings, Services, Own>): (options?: ProductAppOptions<Services>) => Promise<ProductApp> {
  return async function openApp({ services: given, env: givenEnv, fetches } = {}) {
    const log = pino({ enabled: false });
    const appLog = createAppLog(log);
    const defaults = given === undefined ? await createTestSettings?.() : {};
    const env = { DATA_DIR: createFolder(onTestFinished), ...defaults, ...givenEnv };
    const config = readConfig(env);
    const failures: string[] = [];
    const table = await createSourceTable();
    const toFailure = createFailureMaker(
      {
        build: 'test',
        // As on the server whose failures are compared with these.
        namespace: readConfig({ DIGEST_NAMESPACE: process.env.DIGEST_NAMESPACE }).digestNamespace,
        paths: { dist },
        table: () => table,
      },
      { scrubber: noScrubber, splitBy: product.reporting?.splitBy },
    );
    const funnel = createFunnel(toFailure, {
      log,
      reporters: [
        {
          report({ digest, title }, error) {
            failures.push(`${digest} ${title}`);
            console.error(error); // with its stack in the source
            return true;
          },
        },
      ],
    });
    reportTo(funnel);
    const settings = product.settings.read(env, config);
    if (fetches) onTestFinished(answerFetches(fetches)); // before the services, which can keep `fetch`
    const opened =
      given === undefined
        ? await openServices(product.services, settings, { log: appLog, scrubber: noScrubber })
        : { services: given, close: () => Promise.resolve() };
    const parts = { settings, services: opened.services };
    const origins = createOrigins([], 'http://localhost:3000');
    const pages = await createPages({
      app: {
        routes,
        document,
        errorPages,
        pages: product.pages,
        createContext: product.context,
        sharedContext: parts,
      },
      server: {
        manifest: { buildId: 'test', entry: { script: '/assets/test.js', preloads: [], styles: [] }, routes: {} },
        funnel,
        log: appLog,
        policy: createContentPolicy(product.contentSources, { earlyScript: undefined, styleAttributes: true }),
        origins,
        limiter: undefined,
      },
      settings: { isSecret: false },
    });
    const existingApp = await loadExistingApp(product.existingApp, root, log);
    const app = createTestApp({
      log,
      funnel,
      origins,
      pages,
      visitorId: product.reporting?.visitorId,
      api: product.api?.(parts),
      apiDocument: product.apiDocument,
      apiStore: product.apiStore?.(parts),
      apiOrigins: product.apiOrigins,
      steps: product.steps?.(parts) ?? [],
      routes: product.routes?.(parts),
      existingApp,
    });
    const timers = watchTimers();
    const restore = [watchFaults(funnel), timers.stop];
    onTestFinished(async () => {
      await opened.close();
      for (const undo of restore) undo();
    });
    return {
      app,
      async failures() {
        await timers.ended();
        return [...failures];
      },
    };
  };
}

/**
 * Creates a table for source files that run unbuilt. It is made by the same code as the table of a build, so a failure
 * gets the same digest in a test as in production.
 */
async function createSourceTable(): Promise<LocationTable> {
  const owner = await readOwnersBuild(root);
  const tables = new Map<string, LocationTable>();

  function tableOf(path: string): LocationTable {
    const known = tables.get(path);
    if (known) return known;
    const file = toSourcePath(path, { dist });
    const read = () => createLocations(root, [mapSource(path, readFileSync(file, 'utf8'))], owner);
    const table = isSource(path) && existsSync(file) ? parseLocationTable(read()) : emptyLocationTable;
    tables.set(path, table);
    return table;
  }

  return {
    // Production knows no code of tests, such as fakes.
    find: (frame) => (frame.file.startsWith('tests/') ? undefined : tableOf(frame.file).find(frame)),
    findFunction: (after, name) => tableOf(after.file).findFunction(after, name),
    has: () => true,
    isWritten: (path, property) => tableOf(path).isWritten(path, property),
  };
}

const FAULTS = ['unhandledRejection', 'uncaughtException'] as const;

/** Handles what nothing else catches as the server does, and keeps it from the test runner. */
function watchFaults(funnel: Parameters<typeof watchProcess>[0]['funnel']): () => void {
  const others = FAULTS.map((name) => [name, process.listeners(name as 'uncaughtException')] as const);
  for (const name of FAULTS) process.removeAllListeners(name);
  const stop = watchProcess({ funnel, log: pino({ enabled: false }), stop: () => undefined });
  return () => {
    stop();
    for (const [name, listeners] of others) for (const listener of listeners) process.on(name, listener);
  };
}

/** The longest timer that is waited for, and how often it is looked at (ms). */
const LONGEST_TIMER = 2000;
const LOOK = 10;

/** Follows the timers that are started from now on. */
function watchTimers() {
  const running = new Map<number, NodeJS.Timeout & { readonly _idleTimeout: number; readonly _repeat: unknown }>();
  let isLooking = false;
  const hook = createHook({
    init(id, type, _trigger, timer) {
      if (type === 'Timeout' && !isLooking) running.set(id, timer as NonNullable<ReturnType<typeof running.get>>);
    },
    destroy: (id) => void running.delete(id),
  }).enable();

  function isWaitedFor(timer: NonNullable<ReturnType<typeof running.get>>): boolean {
    return timer.hasRef() && timer._idleTimeout <= LONGEST_TIMER && timer._repeat === null;
  }

  return {
    async ended() {
      // A timer that starts itself again, such as that of a queue, has no end.
      const until = performance.now() + LONGEST_TIMER;
      do {
        isLooking = true;
        const look = new Promise((resolve) => setTimeout(resolve, LOOK));
        isLooking = false;
        await look;
      } while ([...running.values()].some(isWaitedFor) && performance.now() < until);
    },
    stop: () => void hook.disable(),
  };
}

function answerFetches(answers: NonNullable<ProductAppOptions<unknown>['fetches']>): () => void {
  const real = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const { method, url } = new Request(input, init);
    const name = `${method} ${url.replace(/[?#].*$/s, '')}`;
    const answer = answers[name];
    if (answer === undefined) throw new Error(`${name} is not in \`fetches\`. Add its response there.`);
    if (typeof answer === 'string') throw createNetworkError(answer);
    return typeof answer === 'number' ? Response.json({}, { status: answer }) : answer();
  };
  return () => {
    globalThis.fetch = real;
  };
}

/** Leaves out frames of callers, as Node does. */
function createNetworkError(code: string): TypeError {
  const cause = Object.assign(new Error(code), { code, stack: `Error: ${code}` });
  return Object.assign(new TypeError('fetch failed', { cause }), { stack: 'TypeError: fetch failed' });
}
