import { hash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Express, Request } from 'express';
import type { ApiSchema, OperationFacts } from '../../shared/api/operation.ts';
import { sendAllowed, sendProblem } from '../errors/problem.ts';
import { WiringError } from '../errors/wiring-error.ts';
import { MAX_API_BODY_BYTES, MAX_JSON_NODES } from '../limits.ts';
import { HttpError, methodNotAllowed, notFoundHere } from '../request/http-error.ts';
import { isRead } from '../request/methods.ts';
import { decodePercent } from '../request/paths.ts';
import { matchesEtag } from '../request/request-headers.ts';
import { requestInfo } from '../request/request-info.ts';
import { sendLines } from '../request/send-body.ts';
import { type Step, toExpress } from '../request/step.ts';
import type { ApiStore } from './api-store.ts';
import type { Auth, Caller } from './auth.ts';
import { readJson } from './body-limits.ts';
import type { AnyReply, Implemented } from './implement.ts';
import { createTextReader, type FieldErrors, type Read, readValue, UNREAD } from './read-input.ts';
import { findSender, type ParsedLimit, parseLimit, requireLimit, runOnce } from './request-checks.ts';

/** Thrown by the checks of an operation: the caller's request is not valid. */
export class InvalidInput extends HttpError {
  readonly errors: FieldErrors;

  constructor(status: 400 | 422, message: string, errors: FieldErrors) {
    super(status, message);
    this.errors = errors;
  }
}

/** Texts of a request, or the values that a caller in this process passes. */
interface GivenInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: () => URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Undefined without one. */
  readonly body: () => Promise<unknown>;
  /** Makes Express's request, for the handlers that read it. */
  readonly toRequest: () => Request;
}

/** What a handler gets. It is a class, because each object literal with a getter would have a hidden class of its own. */
class Input {
  readonly #toRequest: () => Request;

  constructor(toRequest: () => Request, parts: object) {
    this.#toRequest = toRequest;
    Object.assign(this, parts);
  }

  get request(): Request {
    return this.#toRequest();
  }
}

/** Checks of a request that arrived over HTTP, not of a call in this process. */
interface HttpChecks {
  /** @throws HttpError 429 */
  readonly admit: (caller: Caller | undefined) => Promise<void>;
  /** Whether the caller has this version already. */
  readonly isKnown: (version: string) => boolean;
  /** Runs a request with an `Idempotency-Key` once. */
  readonly once: (caller: Caller | undefined, run: () => Promise<AnyReply>) => Promise<AnyReply>;
}

/** An operation that is ready to run. */
export interface ServedOperation {
  readonly name: string;
  readonly facts: OperationFacts;
  readonly limit: ParsedLimit | undefined;
  /** @throws HttpError if the request is refused */
  readonly run: (given: GivenInput, http?: HttpChecks) => Promise<AnyReply | undefined>;
}

export function serveOperation({ name, facts, auth, version, handle }: Implemented): ServedOperation {
  if (facts.idempotent && facts.method !== 'POST')
    throw new WiringError(`Only a POST can be idempotent, and the operation "${name}" is not.`);
  const readParams = facts.params && createTextReader(facts.params);
  const readQuery = createQueryReader(facts);
  const readHeaders = facts.headers && createTextReader(facts.headers);
  return {
    name,
    facts,
    limit: facts.limit && parseLimit(facts.limit, name),
    async run(given, http) {
      const caller = auth && (await identify(auth, given, http));
      await http?.admit(caller);
      const params = readParams ? await readParams(Object.entries(given.params)) : UNREAD;
      if ('errors' in params) throw notFoundHere();
      const { query, page } = readQuery ? await readQuery(given.query()) : { query: UNREAD, page: undefined };
      if ('errors' in query) throw new InvalidInput(400, 'The query is not valid.', query.errors);
      const headers = readHeaders ? await readHeaders(toTexts(given.headers)) : UNREAD;
      if ('errors' in headers) throw new InvalidInput(400, 'A header of the request is not valid.', headers.errors);
      const body = facts.body ? await readValue(facts.body, await given.body()) : undefined;
      if (body && 'errors' in body) throw new InvalidInput(422, 'The request is not valid.', body.errors);
      const match = facts.ifMatch && ((current: string) => requireMatch(given.headers['if-match'], current));
      const parts = {
        params: params.value,
        query: query.value,
        headers: headers.value,
        body: body?.value,
        caller,
        page,
        match,
      };
      const input = new Input(given.toRequest, parts) as never; // the types of `implement` are those of these facts
      if (version && http?.isKnown(await version(input))) return undefined;
      const reply = async () => checkReply(name, facts, await handle(input));
      return http && facts.idempotent ? http.once(caller, reply) : reply();
    },
  };
}

/** Also counts requests that are refused here, so that wrong tokens have a limit. */
async function identify(auth: Auth, { toRequest }: GivenInput, http: HttpChecks | undefined): Promise<Caller> {
  try {
    return await auth.identify(toRequest());
  } catch (error) {
    if (error instanceof HttpError && error.status < 500) await http?.admit(undefined);
    throw error;
  }
}

interface PagedQuery {
  readonly query: Read;
  readonly page?: { readonly cursor: string | undefined; readonly limit: number };
}

type QueryReader = (search: URLSearchParams) => Promise<PagedQuery>;

function createQueryReader({ query, paged }: OperationFacts): QueryReader | undefined {
  const read = query && createTextReader(query);
  if (!paged) return read && (async (search) => ({ query: await read(search) }));
  return async (search): Promise<PagedQuery> => {
    const own = [...search].filter(([name]) => name !== 'cursor' && name !== 'limit');
    if (search.getAll('cursor').length > 1) return { query: { errors: { cursor: 'Send it only once.' } } };
    const text = search.get('limit');
    const limit = text === null ? paged.limit : /^\d{1,6}$/.test(text) ? Number(text) : 0;
    if (limit < 1 || limit > paged.max || search.getAll('limit').length > 1) {
      return { query: { errors: { limit: `Send a number from 1 to ${paged.max}, once.` } } };
    }
    return { query: read ? await read(own) : UNREAD, page: { cursor: search.get('cursor') ?? undefined, limit } };
  };
}

/** Cheaper than a whole URL. */
function toSearchParams(target: string): URLSearchParams {
  const start = target.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : target.slice(start));
}

function toTexts(headers: IncomingHttpHeaders): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
}

/** RFC 9110, section 13.1.1: strong comparison. */
function requireMatch(header: string | undefined, version: string): void {
  if (header === undefined || header.trim() === '*') return;
  if (header.split(',').some((tag) => tag.trim() === toTag(version))) return;
  throw new HttpError(412, 'It has changed in the meantime. Get it again.');
}

/** A reply that its schema refuses may contain what callers must not see, so it is a failure and is not sent. */
function checkReply(name: string, facts: OperationFacts, reply: AnyReply): AnyReply | Promise<AnyReply> {
  const described = facts.replies[reply.status];
  if (!described) throw new Error(`The operation ${name} answered ${reply.status}, which its replies do not have.`);
  if (described.body) {
    const read = readValue(described.body, reply.body);
    const withBody = (done: Read): AnyReply => ({ ...reply, body: toValue(name, done) });
    return read instanceof Promise ? read.then(withBody) : withBody(read);
  }
  return described.lines && reply.lines ? { ...reply, lines: checkLines(name, described.lines, reply.lines) } : reply;
}

async function* checkLines(name: string, schema: ApiSchema, lines: AsyncIterable<unknown>): AsyncGenerator<unknown> {
  for await (const line of lines) yield toValue(name, await readValue(schema, line));
}

function toValue(name: string, read: Read): unknown {
  if (!('errors' in read)) return read.value;
  const [field = '', message = ''] = Object.entries(read.errors)[0] ?? [];
  throw new Error(`The reply of the operation ${name} is not what its schema describes. ${field}: ${message}`);
}

interface Route {
  readonly pattern: string;
  readonly byMethod: Map<string, ServedOperation>;
  readonly allow: string;
}

interface Found {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

interface ServeOptions {
  /** Makes `request` for the handlers that read it. Within an Express app it is not needed. */
  readonly app?: Express | undefined;
  readonly base: string;
  readonly store: ApiStore;
}

/**
 * Answers the operations' paths under `base`. HEAD follows GET, OPTIONS is answered with `Allow`, and other methods get
 * 405. Other paths are left to what follows. It runs in an Express app, and in front of one.
 */
export function serveOperations(operations: readonly ServedOperation[], { app, base, store }: ServeOptions): Step {
  const find = createFinder(operations);
  return async function serveOperations(req, res, next) {
    const info = requestInfo(req);
    const found = info.path.startsWith(base) ? find(info.path.slice(base.length)) : undefined;
    if (!found) return next();
    const { route, params } = found;
    info.route = `${base}${route.pattern}`;
    if (req.method === 'OPTIONS') return sendAllowed(res, route.allow);
    const operation = route.byMethod.get(req.method === 'HEAD' ? 'GET' : (req.method ?? ''));
    if (!operation) throw methodNotAllowed(route.allow);
    try {
      await answer(operation, params, req, res);
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      sendProblem(res, { kind: 'public', status: error.status, message: error.message }, { errors: error.errors });
    }
  };

  async function answer(
    operation: ServedOperation,
    params: Found['params'],
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> {
    const { facts, limit } = operation;
    if (facts.deprecated) sayDeprecated(res, facts.deprecated);
    const given: GivenInput = {
      params,
      query: () => toSearchParams(requestInfo(req).target),
      headers: req.headers,
      toRequest: () => (app ? toExpress(app, req, res) : (req as Request)),
      body: () => readJson(req, res, { limit: MAX_API_BODY_BYTES, nodes: MAX_JSON_NODES }),
    };
    const toCounted = (caller: Caller | undefined) => ({ operation: facts, sender: findSender(req, caller) });
    const reply = await operation.run(given, {
      admit: async (caller) => limit && requireLimit(store, limit, toCounted(caller), res),
      isKnown: (version) => isFresh(req, res, `W/"${encodeURIComponent(version)}"`),
      once: (caller, run) => runOnce({ store, counted: toCounted(caller), request: req }, run),
    });
    if (reply) return send(reply, req, res);
    res.statusCode = 304;
    res.end();
  }
}

/** Finds the operations of a path. A step can guard it by its path, so case matters. A slash at the end does not. */
function createFinder(operations: readonly ServedOperation[]): (path: string) => Found | undefined {
  const routes = new Map<string, Route>();
  for (const operation of operations) {
    const { path, method } = operation.facts;
    const byMethod = routes.get(path)?.byMethod ?? new Map<string, ServedOperation>();
    if (byMethod.has(method)) throw new WiringError(`Two operations have ${method} ${path}. Give one another path.`);
    byMethod.set(method, operation);
    const methods = [...byMethod.keys()].flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name]));
    routes.set(path, { pattern: path, byMethod, allow: [...methods, 'OPTIONS'].join(', ') });
  }
  const all = [...routes.values()];
  const fixed = new Map(
    all
      .filter(({ pattern }) => !pattern.includes(':'))
      .map((route) => [withoutSlash(route.pattern), { route, params: {} }]),
  );
  const matchers = all.filter(({ pattern }) => pattern.includes(':')).map(toMatcher);
  return (path) => {
    const found = fixed.get(withoutSlash(path));
    if (found) return found;
    for (const match of matchers) {
      const matched = match(path);
      if (matched) return matched;
    }
    return undefined;
  };
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

function toMatcher(route: Route): (path: string) => Found | undefined {
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

function send(reply: AnyReply, req: IncomingMessage, res: ServerResponse): void | Promise<void> {
  const { status, headers, version, next, body, lines } = reply;
  res.statusCode = status;
  for (const name in headers) res.setHeader(name, headers[name] ?? '');
  if (version !== undefined) res.setHeader('ETag', toTag(version));
  if (next !== undefined) res.appendHeader('Link', `<${toNextUrl(req, next)}>; rel="next"`);
  if (lines) return sendLines(req, res, lines);
  if (body === undefined) return void res.end();
  const text = JSON.stringify(body);
  if (isRead(req) && isFresh(req, res, String(res.getHeader('ETag') ?? toHash(text)))) {
    res.statusCode = 304;
    return void res.end();
  }
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', Buffer.byteLength(text));
  res.end(text);
}

function toNextUrl(req: IncomingMessage, cursor: string): string {
  const { url } = requestInfo(req);
  const next = new URLSearchParams(url.searchParams);
  next.set('cursor', cursor);
  return `${url.pathname}?${next}`;
}

export function toTag(version: string): string {
  return `"${encodeURIComponent(version)}"`;
}

function toHash(text: string): string {
  return `W/"${hash('sha1', text, 'base64url')}"`;
}

/**
 * Sets the tag, and returns whether the caller has that state. Express ignores `If-None-Match` if there is
 * `Cache-Control: no-cache`, which `fetch` always adds to it. That header is for caches, and this is not one.
 */
function isFresh(req: IncomingMessage, res: ServerResponse, tag: string): boolean {
  res.setHeader('ETag', tag);
  return matchesEtag(req.headers['if-none-match'], tag);
}
