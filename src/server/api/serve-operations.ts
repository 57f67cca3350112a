import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Express, Request } from 'express';
import type { OperationFacts } from '../../shared/api/operation.ts';
import { sendAllowed, sendProblem } from '../errors/problem.ts';
import { WiringError } from '../errors/wiring-error.ts';
import { FEWEST_BYTES } from '../front/compress.ts';
import { MAX_API_BODY_BYTES, MAX_JSON_NODES } from '../limits.ts';
import { HttpError, methodNotAllowed, VisitorGone } from '../request/http-error.ts';
import { decodePercent } from '../request/paths.ts';
import type { ReceivedForm } from '../request/read-multipart.ts';
import { addVary, matchesEtag } from '../request/request-headers.ts';
import { requestInfo } from '../request/request-info.ts';
import { sendLines } from '../request/send-body.ts';
import { isRead, onClose, STOPPING, type Step, toExpress } from '../request/step.ts';
import type { ApiStore } from './api-store.ts';
import type { Caller } from './auth.ts';
import { readJsonBody, readParts } from './body-parsers.ts';
import { runOnce } from './idempotency.ts';
import type { AnyReply } from './implement.ts';
import { createRateLimiter, findSender } from './rate-limit.ts';
import { type GivenInput, InvalidInput, type ServedOperation, toTag } from './run-operation.ts';

interface Route {
  readonly pattern: string;
  readonly byMethod: Map<string, ServedOperation>;
  readonly allow: string;
}

interface Found {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds the operations of a path below `/api`. */
type FindOperations = (path: string) => Found | undefined;

interface ServeOptions {
  /** Makes `request` for the handlers that read it. Within an Express app it is not needed. */
  readonly app?: Express | undefined;
  readonly base: string;
  readonly store: ApiStore;
  /** Compresses a response that is large enough. Only in front of the step `compress`. */
  readonly compress?: ((res: ServerResponse) => void) | undefined;
}

/**
 * Finds the route of a request before the product's steps run. It shows which parts of the path are secret, for the log
 * and for failures of a step.
 */
export function nameOperation(find: FindOperations, base: string): Step {
  return function nameOperation(req, _res, next) {
    const info = requestInfo(req);
    const found = findBelow(base, info.path, find);
    if (found) info.route = `${base}${found.route.pattern}`;
    next();
  };
}

function findBelow(base: string, path: string, find: FindOperations): Found | undefined {
  return path.startsWith(base) ? find(path.slice(base.length)) : undefined;
}

/**
 * Answers the operations' paths under `base`. HEAD follows GET, OPTIONS is answered with `Allow`, and other methods get
 * 405. Other paths are left to what follows. It runs in an Express app, and in front of one.
 */
export function serveOperations(find: FindOperations, { app, base, store, compress }: ServeOptions): Step {
  const limiter = createRateLimiter(store);
  return function serveOperations(req, res, next) {
    const info = requestInfo(req);
    const found = findBelow(base, info.path, find);
    if (!found) return next();
    const { route, params } = found;
    info.route = `${base}${route.pattern}`;
    if (req.method === 'OPTIONS') return sendAllowed(res, route.allow);
    const operation = route.byMethod.get(req.method === 'HEAD' ? 'GET' : (req.method ?? ''));
    if (!operation) throw methodNotAllowed(route.allow);
    info.isOperation = true;
    info.definition = operation.definition;
    return answer(operation, params, req, res);
  };

  async function answer(
    operation: ServedOperation,
    params: Found['params'],
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> {
    const { facts, limit } = operation;
    if (compress) addVary(res, 'Accept-Encoding');
    if (facts.deprecated) sayDeprecated(res, facts.deprecated);
    let parts: ReceivedForm | undefined;
    async function readBody(): Promise<unknown> {
      parts = facts.multipart && (await readParts(req, res, facts.multipart.maxBytes));
      return parts ? parts.form : readJsonBody(req, res, { limit: MAX_API_BODY_BYTES, nodes: MAX_JSON_NODES });
    }
    const given: GivenInput = {
      params,
      query: () => toSearchParams(requestInfo(req).target),
      headers: req.headers,
      toRequest: () => (app ? toExpress(app, req, res) : (req as Request)),
      toSignal: () => createSignal(facts, res),
      body: readBody,
    };
    const toCounted = (caller: Caller | 'wrong-token' | undefined) => ({
      operation: facts,
      sender: findSender(req, caller),
    });
    try {
      const reply = await operation.run(given, {
        admit: limit && ((caller) => limiter.count(limit, toCounted(caller), res)),
        admitToken: limit && (() => limiter.requireLeft(toCounted('wrong-token'))),
        isKnown: (version) => isKnown(req, res, toTag(version)),
        once: (caller, ...work) => runOnce({ store, counted: toCounted(caller), request: req }, ...work),
      });
      if (reply) return await send(reply, req, res, compress);
      res.statusCode = 304;
      res.end();
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      sendProblem(res, { kind: 'public', status: error.status, message: error.message }, { errors: error.errors });
    } finally {
      if (parts) onClose(res, parts.remove);
    }
  }
}

/** A stop of the server lets replies finish, unless they have no end. */
function createSignal({ replies }: OperationFacts, res: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(new VisitorGone());
  onClose(res, () => void (res.writableFinished || abort()));
  if (Object.values(replies).some(({ isEndless }) => isEndless)) res.once(STOPPING, abort);
  return controller.signal;
}

/** Cheaper than a whole URL. */
function toSearchParams(target: string): URLSearchParams {
  const start = target.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : target.slice(start));
}

/** Finds the operations of a path. A step can guard it by its path, so case matters. A slash at the end does not. */
export function createFinder(operations: readonly ServedOperation[]): FindOperations {
  const routes = new Map<string, Route>();
  const names = new Set<string>();
  for (const operation of operations) {
    const { name, facts } = operation;
    const { path, method } = facts;
    const shape = path.replace(/:\w+/g, ':');
    const { byMethod = new Map<string, ServedOperation>(), pattern = path } = routes.get(shape) ?? {};
    if (pattern !== path)
      throw new WiringError(
        `Two operations have the paths ${pattern} and ${path}, which match the same URLs. Give the parameters the same names.`,
      );
    if (byMethod.has(method)) throw new WiringError(`Two operations have ${method} ${path}. Give one another path.`);
    if (names.has(name)) throw new WiringError(`Two operations have the name ${name}. Rename one of them.`);
    names.add(name);
    byMethod.set(method, operation);
    const methods = [...byMethod.keys()].flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name]));
    routes.set(shape, { pattern: path, byMethod, allow: [...methods, 'OPTIONS'].join(', ') });
  }
  const all = [...routes.values()];
  const fixed = new Map(
    all
      .filter(({ pattern }) => !pattern.includes(':'))
      .map((route) => [withoutSlash(route.pattern), { route, params: {} }]),
  );
  const matchers = all.filter(({ pattern }) => pattern.includes(':')).map(toMatcher);
  // Each request asks twice, and most are answered before the next one begins.
  let last: { readonly path: string; readonly found: Found | undefined } | undefined;
  return (path) => {
    if (last?.path !== path) last = { path, found: fixed.get(withoutSlash(path)) ?? findFirst(path, matchers) };
    return last.found;
  };
}

function findFirst(path: string, matchers: readonly FindOperations[]): Found | undefined {
  for (const match of matchers) {
    const found = match(path);
    if (found) return found;
  }
  return undefined;
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

function toMatcher(route: Route): FindOperations {
  const names = [...route.pattern.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const texts = route.pattern.split(/:\w+/).map(RegExp.escape);
  const regex = new RegExp(`^${texts.join('([^/]+)')}/?$`);
  return (path) => {
    const parts = regex.exec(path)?.slice(1).map(decodePercent);
    if (!parts || parts.includes(undefined)) return undefined;
    return { route, params: Object.fromEntries(names.map((name, index) => [name, parts[index] ?? ''])) };
  };
}

/** RFC 9745 and RFC 8594. */
function sayDeprecated(res: ServerResponse, { since, sunset, link }: NonNullable<OperationFacts['deprecated']>): void {
  res.setHeader('Deprecation', `@${Date.parse(since) / 1000}`);
  if (sunset !== undefined) res.setHeader('Sunset', new Date(sunset).toUTCString());
  if (link !== undefined) res.appendHeader('Link', `<${link}>; rel="deprecation"`);
}

function send(
  reply: AnyReply,
  req: IncomingMessage,
  res: ServerResponse,
  compress: ServeOptions['compress'],
): void | Promise<void> {
  const { status, headers, version, next, body, lines } = reply;
  res.statusCode = status;
  for (const name in headers) res.setHeader(name, headers[name] ?? '');
  if (version !== undefined) res.setHeader('ETag', toTag(version));
  if (next !== undefined) res.appendHeader('Link', `<${toNextUrl(req, next)}>; rel="next"`);
  if (lines) {
    compress?.(res);
    return sendLines(req, res, lines);
  }
  if (body === undefined) return void res.end();
  const text = JSON.stringify(body);
  // RFC 9110, section 13.2.1: a condition is only for what would be sent with 2xx.
  if (isRead(req) && status < 300 && isFresh(req, res, String(res.getHeader('ETag') ?? toHash(text)))) {
    res.statusCode = 304;
    return void res.end();
  }
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  const bytes = Buffer.byteLength(text);
  if (bytes >= FEWEST_BYTES) compress?.(res);
  res.setHeader('Content-Length', bytes);
  res.end(text);
}

function toNextUrl(req: IncomingMessage, cursor: string): string {
  const { url } = requestInfo(req);
  const next = new URLSearchParams(url.searchParams);
  next.set('cursor', cursor);
  return `${url.pathname}?${next}`;
}

function toHash(text: string): string {
  return `W/"${hash('sha1', text, 'base64url')}"`;
}

/** @throws HttpError 412 for a change of a state that the caller excludes (RFC 9110, section 13.1.2) */
function isKnown(req: IncomingMessage, res: ServerResponse, tag: string): boolean {
  if (isRead(req)) return isFresh(req, res, tag);
  if (!matchesEtag(req.headers['if-none-match'], tag)) return false;
  throw new HttpError(412, 'It has a version that If-None-Match excludes.');
}

/**
 * Sets the tag, and returns whether the caller has that state. Express ignores `If-None-Match` if there is
 * `Cache-Control: no-cache`, which `fetch` always adds to it. That header is for caches, and this is not one.
 */
function isFresh(req: IncomingMessage, res: ServerResponse, tag: string): boolean {
  res.setHeader('ETag', tag);
  return matchesEtag(req.headers['if-none-match'], tag);
}
