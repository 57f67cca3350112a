import { existsSync, readFileSync } from 'node:fs';
import { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createRequire, findPackageJSON } from 'node:module';
import { dirname, join, normalize, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ErrorRequestHandler, Express, NextFunction, Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { readProperty } from '../../shared/reporting/read-property.ts';
import type { HeaderList } from '../connection/http-server.ts';
import { describeNodeFloor } from '../connection/node-floor.ts';
import { PRODUCT_FILE, WiringError } from '../errors/wiring-error.ts';
import type { ProxyTrust } from '../request/client-address.ts';
import { HttpError, statusOf, unsupportedMediaType } from '../request/http-error.ts';
import { isApiPath } from '../request/paths.ts';
import { requestInfo } from '../request/request-info.ts';
import { recordCalls } from '../request/route-patterns.ts';
import type { Step } from '../request/step.ts';
import { leaveUncompressed } from './compress.ts';
import { toPrivateCaching } from './security-headers.ts';

/** An Express 4 or 5 app, or the file that exports it, from the root of the project. */
type App = RequestHandler | `./${string}`;

/** An app that runs behind the pages: the app, the file that exports it, or either with settings. */
export type ExistingApp = App | ExistingAppSettings;

interface ExistingAppSettings {
  readonly app: App;
  /**
   * A server of the app that does not listen. Listeners attached to it (socket.io, `ws`) get requests and WebSockets.
   * An app that is named by its file sets `app.server = server` instead.
   */
  readonly server?: Server;
  /**
   * Passes paths that have several spellings (`//a`, `/a%2Fb`, `/caf%c3%a9`) to the app unchanged. Your steps match
   * them decoded and with single slashes. Dot segments, and paths that could be read as Spillway's, are refused.
   */
  readonly rawPaths?: boolean | undefined;
}

/** An existing app once it is loaded. */
export type LoadedApp = ExistingAppSettings & { readonly app: RequestHandler };

interface ExistingAppOptions {
  readonly existing: LoadedApp;
  readonly trust: ProxyTrust;
  /** The security headers of Spillway's responses. */
  readonly headers: HeaderList;
  /** True for a path that belongs to Spillway, even if the app has it too. */
  readonly isReserved: (path: string) => boolean;
}

interface ExistingAppSteps {
  /** Runs before the product's steps. Removes Spillway's headers, unless the path is reserved: `run` does it then. */
  readonly takeHeaders: Step;
  /** Restores them if Spillway answers after all. Headers that a step has set remain. */
  readonly giveHeaders: RequestHandler;
  readonly giveHeadersToErrors: ErrorRequestHandler;
  /** Runs the app, which gets the request and the response as `node:http` made them. */
  readonly run: RequestHandler;
}

/** Express 5 decodes such a body. Spillway's own readers never do. */
const IS_BROTLI_VULNERABLE = describeNodeFloor(process.versions.node) !== undefined;

/** Properties that Spillway's Express has set on the request. */
export const ROUTING = ['baseUrl', 'originalUrl', 'params', 'route', 'next', 'res', 'url'] as const;

/** The setting that is true while `trust proxy` has not been set. */
const DEFAULT_TRUST = '@@symbol:trust_proxy_default';

/** Mounts an existing app so that it answers exactly as it does without Spillway. */
export function mountExistingApp({ existing, trust, headers, isReserved }: ExistingAppOptions): ExistingAppSteps {
  const { app } = existing;
  const names = [...headers.map(([name]) => name), 'Strict-Transport-Security', 'Reporting-Endpoints', 'Cache-Control'];
  if (hasDefaultTrust(app)) app.set('trust proxy', trust);
  const handle = toHandler(existing);
  /** Spillway's headers of a response, and those that it has now. */
  const ours = new WeakMap<ServerResponse, HeaderList>();
  const given = new WeakMap<ServerResponse, HeaderList>();

  function give(res: ServerResponse): void {
    const missing = (ours.get(res) ?? []).filter(([name]) => !res.hasHeader(name));
    for (const [name, value] of missing) res.setHeader(name, value);
    given.set(res, [...(given.get(res) ?? []), ...missing]);
  }

  return {
    takeHeaders(req, res, next) {
      const { path } = requestInfo(req);
      const present = names
        .filter((name) => res.hasHeader(name))
        .map((name) => [name, String(res.getHeader(name))] as const);
      ours.set(res, present);
      if (!isReserved(path)) for (const [name] of present) res.removeHeader(name);
      else given.set(res, isApiPath(path) ? [...present, ['Cache-Control', toPrivateCaching(req)]] : present);
      next();
    },
    giveHeaders(_req, res, next) {
      give(res);
      next();
    },
    giveHeadersToErrors(error, _req, res, next) {
      if (!res.headersSent) give(res);
      next(error);
    },
    run(req, res, next) {
      if (IS_BROTLI_VULNERABLE && /\bbr\b/i.test(req.headers['content-encoding'] ?? '')) {
        throw unsupportedMediaType('This server does not take bodies in Brotli. Send them without, or with gzip.');
      }
      requestInfo(req).isExistingApps = true;
      leaveUncompressed(res);
      for (const [name, value] of given.get(res) ?? []) if (res.getHeader(name) === value) res.removeHeader(name);
      const giveBack = isApp(app) ? leaveExpress(req, res) : () => undefined;
      handle(req, res, (error?: unknown) => {
        if (error) requestInfo(req).keepRoute();
        giveBack();
        next(withStatus(error, res));
      });
    },
  };
}

/**
 * Gives a request and its response the prototypes of `node:http`. With those of Express 5 an Express 4 app could not
 * set `req.query`, and `res.send(404, 'x')` would answer 200.
 *
 * @returns a function that undoes it
 */
function leaveExpress(req: Request, res: Response): () => void {
  const prototypes = [Object.getPrototypeOf(req), Object.getPrototypeOf(res)] as const;
  const routing = Object.fromEntries(ROUTING.map((name) => [name, req[name]]));
  const { rawTarget, target } = requestInfo(req);
  Object.setPrototypeOf(req, IncomingMessage.prototype);
  Object.setPrototypeOf(res, ServerResponse.prototype);
  for (const name of ROUTING) delete (req as Partial<Request>)[name];
  req.originalUrl = rawTarget ?? target;
  // A step can have rewritten it.
  req.url = routing.url === target ? req.originalUrl : String(routing.url);
  return () => {
    Object.setPrototypeOf(req, prototypes[0]);
    Object.setPrototypeOf(res, prototypes[1]);
    Object.assign(req, routing);
  };
}

/** Express answers an error without a status with that of the response, such as `res.status(402)`. */
function withStatus(error: unknown, { statusCode }: ServerResponse): unknown {
  const isAnswer = error && statusOf(error) === undefined && statusCode >= 400 && statusCode < 500;
  return isAnswer ? new HttpError(statusCode) : error;
}

function hasDefaultTrust(app: RequestHandler): app is Express {
  return isApp(app) && app.settings?.[DEFAULT_TRUST] === true;
}

/**
 * Passes requests through the app's server, if something like socket.io handles them first. That calls the app without
 * `next`, so `next` is looked up in a map.
 */
function toHandler({ app, server }: LoadedApp): RequestHandler {
  if (!server || !isApp(app) || server.listeners('request').includes(app)) return app;
  const { handle } = app as unknown as { handle: RequestHandler };
  const nexts = new WeakMap<IncomingMessage, NextFunction>();
  Object.assign(app, {
    handle(this: Express, req: Request, res: Response, next?: NextFunction) {
      return handle.call(this, req, res, next ?? (nexts.get(req) as NextFunction));
    },
  });
  return (req, res, next) => {
    nexts.set(req, next);
    server.emit('request', req, res);
  };
}

/**
 * Loads an existing app. One that is named by its file is not bundled, so its `__dirname`, its views and its
 * `require()` work as before.
 *
 * @param root the folder that holds `package.json`
 * @throws Error with a message for the operator if the file exports no app
 */
export async function loadExistingApp(
  existing: ExistingApp | undefined,
  root: string,
  log: Pick<Logger, 'warn'>,
): Promise<LoadedApp | undefined> {
  const settings = requireExistingFile(existing, root);
  if (settings === undefined) return undefined;
  const uninstalled = findUninstalled(settings, root);
  if (uninstalled) log.warn(uninstalled.text);
  const app = typeof settings.app === 'string' ? await importApp(settings.app, root) : settings.app;
  const { server } = app as { server?: unknown };
  return { ...(server instanceof Server && { server }), ...settings, app };
}

/** @throws WiringError if the file of the app does not exist, or is outside of the project, where the build makes no source maps */
export function requireExistingFile(existing: ExistingApp | undefined, root: string): ExistingAppSettings | undefined {
  const settings = typeof existing === 'function' || typeof existing === 'string' ? { app: existing } : existing;
  const file = typeof settings?.app === 'string' ? settings.app : undefined;
  if (file !== undefined && normalize(file).startsWith('..')) {
    throw new WiringError(
      `existingApp in ${PRODUCT_FILE} names ${file}, which is outside of the project. Move the app into its folder, or import it and pass the app itself.`,
    );
  }
  if (file !== undefined && !existsSync(join(root, file))) {
    throw new WiringError(`existingApp in ${PRODUCT_FILE} names ${file}, which does not exist.`);
  }
  return settings;
}

/** @returns undefined, unless the app has its own packages and they are not installed */
export function findUninstalled({ app: file }: ExistingAppSettings, root: string): Uninstalled | undefined {
  if (typeof file !== 'string') return undefined;
  const own = findPackageJSON(pathToFileURL(join(root, file)));
  const folder = own && relative(root, dirname(own));
  if (!folder || existsSync(join(root, folder, 'node_modules'))) return undefined;
  const { dependencies = {} } = JSON.parse(readFileSync(own, 'utf8')) as { dependencies?: object };
  const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { workspaces?: unknown };
  const names = Object.keys(dependencies);
  if (names.length === 0 || workspaces) return undefined;
  const { resolve } = createRequire(own);
  // No paths: Node has a module with this name.
  const isMissing = (name: string) => resolve.paths(name)?.every((path) => !existsSync(join(path, name))) === true;
  const missing = names.filter(isMissing);
  const effect =
    missing.length > 0
      ? `so the app does not find ${missing.join(', ')}`
      : 'so the app gets those of the project, perhaps in other versions';
  const text = `The packages of ${folder}/package.json are not installed, ${effect}. Run \`npm ci --prefix ${folder}\`.`;
  return { text, areMissing: missing.length > 0 };
}

interface Uninstalled {
  /** What to do. */
  readonly text: string;
  /** Whether the project does not have all of them either. */
  readonly areMissing: boolean;
}

async function importApp(file: string, root: string): Promise<RequestHandler> {
  recordCallsOf(createRequire(join(root, file)));
  const module = (await import(pathToFileURL(join(root, file)).href).catch(explainModules)) as { default?: unknown };
  // An app that was compiled to CommonJS has its default export one level deeper.
  const found = [module.default, (module.default as { default?: unknown } | undefined)?.default].find(isApp);
  if (found) return found;
  throw new WiringError(
    `${file} exports no Express app. End it with "module.exports = app" or "export default app", and listen elsewhere: the server listens for it.`,
  );
}

/** Loads the app's copy of Express before the app makes routes with it. */
function recordCallsOf(require: NodeJS.Require): void {
  try {
    recordCalls(require('express'));
  } catch {
    // It has none. If it needs one, loading the app says so.
  }
}

/** Node says this of an app that was written for CommonJS. */
function explainModules(error: unknown): never {
  if (!/^(?:require|module|exports) is not defined in ES module scope/.test(String(readProperty(error, 'message'))))
    throw error;
  throw new WiringError(
    'The existing app uses CommonJS. Put a package.json with {"type": "commonjs", "private": true} into its folder.',
  );
}

/** True for the app itself, not for a function around it: Express recognizes an app by these properties. */
function isApp(value: unknown): value is Express {
  return typeof value === 'function' && 'handle' in value && 'set' in value;
}
