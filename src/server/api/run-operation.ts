import type { IncomingHttpHeaders } from 'node:http';
import type { Request } from 'express';
import type { ApiSchema, OperationFacts } from '../../shared/api/operation.ts';
import { WiringError } from '../errors/wiring-error.ts';
import { HttpError, notFoundHere } from '../request/http-error.ts';
import { matchesEtag } from '../request/request-headers.ts';
import type { FieldErrors } from '../request/schema-errors.ts';
import type { Auth, Caller } from './auth.ts';
import type { AnyReply, Implemented } from './implement.ts';
import { parseLimit } from './rate-limit.ts';
import { createTextReader, type Read, readValue, UNREAD } from './read-input.ts';

/** Thrown by the checks of an operation: the caller's request is not valid. */
export class InvalidInput extends HttpError {
  readonly errors: FieldErrors;

  constructor(status: 400 | 422, message: string, errors: FieldErrors) {
    super(status, message);
    this.errors = errors;
  }
}

/** Texts of a request, or the values that a caller in this process passes. */
export interface GivenInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: () => URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** JSON, or a form with files. Undefined without a body. */
  readonly body: () => Promise<unknown>;
  /** Makes Express's request, for the handlers that read it. */
  readonly toRequest: () => Request;
  /** Makes the signal, for the handlers that read it. */
  readonly toSignal: () => AbortSignal;
}

/** What a handler gets. It is a class, because each object literal with a getter would have a hidden class of its own. */
class Input {
  readonly #given: GivenInput;
  #signal: AbortSignal | undefined;

  constructor(given: GivenInput, parts: object) {
    this.#given = given;
    Object.assign(this, parts);
  }

  get request(): Request {
    return this.#given.toRequest();
  }

  get signal(): AbortSignal {
    this.#signal ??= this.#given.toSignal();
    return this.#signal;
  }
}

/** Checks of a request that arrived over HTTP, not of a call in this process. */
interface HttpChecks {
  /** For an operation with a limit. @throws HttpError 429 */
  readonly admit: ((caller: Caller | 'wrong-token' | undefined) => Promise<void>) | undefined;
  /** Before a token is looked up. @throws HttpError 429 if too many from this address were wrong */
  readonly admitToken: (() => void) | undefined;
  /** Whether the caller has this version already. */
  readonly isKnown: (version: string) => boolean;
  /** Runs a request with an `Idempotency-Key` once. @param check throws for a reply that is not to be sent */
  readonly once: (
    caller: Caller | undefined,
    run: () => AnyReply | Promise<AnyReply>,
    check: (reply: AnyReply) => AnyReply | Promise<AnyReply>,
  ) => Promise<AnyReply>;
}

/** An operation that is ready to run. */
export type ServedOperation = ReturnType<typeof serveOperation>;

export function serveOperation({ name, facts, auth, version, handle, definition }: Implemented) {
  if (facts.idempotent && facts.method !== 'POST')
    throw new WiringError(`Only a POST can be idempotent, and the operation "${name}" is not.`);
  if (facts.idempotent && Object.values(facts.replies).some(({ lines }) => lines))
    throw new WiringError(
      `The operation "${name}" is idempotent, so it cannot reply with \`lines\`: they are sent once, and not kept.`,
    );
  if (facts.multipart && !facts.body)
    throw new WiringError(
      `The operation "${name}" has \`multipart\` but no \`body\`. Add a schema: z.object({ file: z.file() }).`,
    );
  const readParams = facts.params && createTextReader(facts.params);
  const readQuery = createQueryReader(facts);
  const readHeaders = facts.headers && createTextReader(facts.headers);
  const readForm = facts.multipart && facts.body && createTextReader(facts.body);
  return {
    name,
    facts,
    definition,
    limit: facts.limit && parseLimit(facts.limit, name),
    /** @throws HttpError if the request is refused */
    async run(given: GivenInput, http?: HttpChecks): Promise<AnyReply | undefined> {
      const caller = auth && (await identify(auth, given, http));
      if (http?.admit) await http.admit(caller);
      const params = readParams ? await readParams(Object.entries(given.params)) : UNREAD;
      if ('errors' in params) throw notFoundHere();
      const { query, page } = readQuery ? await readQuery(given.query()) : { query: UNREAD, page: undefined };
      if ('errors' in query) throw new InvalidInput(400, 'The query is not valid.', query.errors);
      const headers = readHeaders ? await readHeaders(toTexts(given.headers)) : UNREAD;
      if ('errors' in headers) throw new InvalidInput(400, 'A header of the request is not valid.', headers.errors);
      const sent = facts.body && (await given.body());
      const body = facts.body && (await (sent instanceof FormData ? readForm?.(sent) : readValue(facts.body, sent)));
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
      const input = new Input(given, parts) as never; // the types of `implement` are those of these facts
      if (version && http?.isKnown(await version(input))) return undefined;
      const run = () => handle(input);
      const check = (reply: AnyReply) => checkReply(name, facts, reply);
      return http && facts.idempotent ? http.once(caller, run, check) : check(await run());
    },
  };
}

/** Also counts requests that are refused here. Those without a token must not use up what an address has for tokens. */
async function identify(auth: Auth, { headers, toRequest }: GivenInput, http: HttpChecks | undefined): Promise<Caller> {
  const hasToken = auth.scheme.type === 'http' && headers.authorization !== undefined;
  if (hasToken) http?.admitToken?.();
  try {
    return await auth.identify(toRequest());
  } catch (error) {
    if (error instanceof HttpError && error.status < 500) await http?.admit?.(hasToken ? 'wrong-token' : undefined);
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

function toTexts(headers: IncomingHttpHeaders): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
}

/**
 * RFC 9110, section 13.1.1, asks for a strong comparison, which compares bytes. Here the state decides, and a proxy that
 * compresses makes every tag weak.
 */
function requireMatch(header: string | undefined, version: string): void {
  if (header === undefined || matchesEtag(header, toTag(version))) return;
  throw new HttpError(412, 'It has changed in the meantime. Get it again.');
}

/** A reply that its schema refuses may contain what callers must not see, so it is a failure and is not sent. */
function checkReply(name: string, facts: OperationFacts, reply: AnyReply): AnyReply | Promise<AnyReply> {
  const described = facts.replies[reply.status];
  if (!described) throw toReplyError(`The operation ${name} answered ${reply.status}, which its replies do not have.`);
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
  throw toReplyError(`The reply of the operation ${name} is not what its schema describes. ${field}: ${message}`);
}

/** Without frames, because all are of this file: the mistake is in a handler, and each needs a digest of its own. */
function toReplyError(message: string): Error {
  return Object.assign(new Error(message), { stack: `Error: ${message}` });
}

/** Weak, because a version names a state and not the bytes of a reply, which can be compressed. */
export function toTag(version: string): string {
  return `W/"${encodeURIComponent(version)}"`;
}
