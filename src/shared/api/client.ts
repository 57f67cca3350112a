import { fetchWithRetry } from '../fetch-with-retry.ts';
import { Second } from '../units.ts';
import { REQUEST_ID_HEADER } from '../wire/protocol.ts';
import type {
  ApiSchema,
  InputOf,
  Method,
  OperationFacts,
  OutputOf,
  ProblemStatus,
  ReplyFacts,
  Sent,
} from './operation.ts';
import type { Problem } from './problem.ts';

/** All attempts together (ms). */
const DEADLINE = 10 * Second;
const ATTEMPTS = 3;

type OperationsWith<Api, M extends Method> = Extract<Api[keyof Api], OperationFacts & { readonly method: M }>;
type At<Api, M extends Method, Path> = Extract<OperationsWith<Api, M>, { readonly path: Path }>;

type Part<Facts, Name extends string> = Facts extends { readonly [P in Name]: infer Schema extends ApiSchema }
  ? object extends InputOf<Schema>
    ? { readonly [P in Name]?: InputOf<Schema> }
    : { readonly [P in Name]: InputOf<Schema> }
  : object;

type SearchOf<Facts> = Facts extends { readonly paged: object }
  ? { readonly cursor?: string | undefined; readonly limit?: number | undefined }
  : object;

type QueryOf<Facts> = Facts extends { readonly query: infer Schema extends ApiSchema }
  ? object extends InputOf<Schema>
    ? { readonly query?: InputOf<Schema> & SearchOf<Facts> }
    : { readonly query: InputOf<Schema> & SearchOf<Facts> }
  : Facts extends { readonly paged: object }
    ? { readonly query?: SearchOf<Facts> }
    : object;

/** What a call sends. */
type CallInput<Facts> = Part<Facts, 'params'> &
  QueryOf<Facts> &
  Part<Facts, 'body'> & {
    /** Such as `If-Match`, `Idempotency-Key` and `Authorization`. */
    readonly headers?: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal | undefined;
  };

type CallArgs<Facts> = object extends CallInput<Facts> ? [input?: CallInput<Facts>] : [input: CallInput<Facts>];

type BodyOf<Described> = Described extends { readonly body: infer Body extends ApiSchema }
  ? Sent<OutputOf<Body>>
  : undefined;

type LinesOf<Described> = Described extends { readonly lines: infer Line extends ApiSchema }
  ? {
      /** Read them once. @throws ApiError if they break off; what `signal` was aborted with */
      readonly lines: AsyncIterable<Sent<OutputOf<Line>>>;
    }
  : object;

type SuccessOf<Described extends Readonly<Record<number, ReplyFacts>>, Facts> = {
  [Status in keyof Described & number]: {
    readonly ok: true;
    readonly status: Status;
    readonly body: BodyOf<Described[Status]>;
    readonly headers: Headers;
  } & LinesOf<Described[Status]> &
    (Facts extends { readonly paged: object }
      ? {
          /** The `cursor` of the next page. Undefined on the last one. */
          readonly next: string | undefined;
        }
      : object);
}[keyof Described & number];

/** A reply of the operation, or one of its problems. */
type CallResult<Facts extends OperationFacts> =
  | SuccessOf<Facts['replies'], Facts>
  | { readonly ok: false; readonly problem: Problem<ProblemStatus<Facts> | AuthStatus<Facts>> };

type AuthStatus<Facts> = Facts extends { readonly isOpen: true } ? never : 401 | 403;

type Call<Api, M extends Method> = <Path extends OperationsWith<Api, M>['path']>(
  path: Path,
  ...args: CallArgs<At<Api, M, Path>>
) => Promise<CallResult<At<Api, M, Path>>>;

/** Calls an API. The compiler checks paths, what is sent, and what is read. */
export interface Client<Api> {
  readonly get: Call<Api, 'GET'>;
  readonly post: Call<Api, 'POST'>;
  readonly put: Call<Api, 'PUT'>;
  readonly patch: Call<Api, 'PATCH'>;
  readonly delete: Call<Api, 'DELETE'>;
}

/** What a call sends, without its types. */
export interface AnyInput {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

export interface AnyResult {
  readonly ok: boolean;
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Headers;
  readonly lines?: AsyncIterable<unknown> | undefined;
  readonly next?: string | undefined;
  readonly problem?: Problem;
}

/** An answer that the operation does not describe, or that broke off: of a failing server, or of something on the way to it. */
export class ApiError extends Error {
  readonly status: number;
  /** What the server said, with the URL that shows the failure. */
  readonly problem: Problem | undefined;
  /** Of an answer that broke off. It finds the failure on the desk. */
  readonly requestId: string | undefined;

  constructor(status: number, problem?: Problem, requestId?: string) {
    super(
      requestId === undefined
        ? `The API answered ${status}${problem?.digest ? ` (${problem.digest})` : ''}.`
        : `The answer of the API broke off (${requestId}).`,
    );
    this.name = 'ApiError';
    this.status = status;
    this.problem = problem;
    this.requestId = requestId;
  }
}

export function toClient<Api>(
  call: (method: Method, path: string, input: AnyInput) => Promise<AnyResult>,
): Client<Api> {
  const callBy = (method: Method) => (path: string, input?: AnyInput) => call(method, path, input ?? {});
  const methods = {
    get: callBy('GET'),
    post: callBy('POST'),
    put: callBy('PUT'),
    patch: callBy('PATCH'),
    delete: callBy('DELETE'),
  };
  return methods as unknown as Client<Api>; // the compiler has checked the call
}

export interface ClientOptions {
  /** Such as `https://api.example.com/api`. */
  readonly base?: string;
}

/**
 * A client of an API, by the types of its operations: `createClient<Api>().get('/todos/:id', { params: { id: 7 } })`.
 * A GET is repeated if the server fails, at most twice. On the server, use `localClient()`.
 *
 * A body with files is sent as a form.
 *
 * @throws ApiError for a status of 500 or more; a `TimeoutError` if no answer begins within 10 s, without files; a
 *   TypeError for a parameter that is empty, `.` or `..`, and for an object in a query or beside files; what `fetch`
 *   throws
 */
export function createClient<Api>({ base = '/api' }: ClientOptions = {}): Client<Api> {
  return toClient<Api>(async (method, path, { params = {}, query = {}, body, headers, signal }) => {
    const where = path.replace(/:(\w+)/g, (part, name: string) => {
      const value = encodeURIComponent(String(params[name]));
      // A URL drops these, so the call would reach another operation.
      if (/^\.{0,2}$/.test(value)) throw new TypeError(`"${value}" as ${part} in a path`);
      return value;
    });
    const search = String(toSearch(query));
    const form = toForm(body);
    const response = await fetchWithRetry(
      `${base}${where}${search && `?${search}`}`,
      {
        method,
        headers: { ...(body !== undefined && !form && { 'Content-Type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: form ?? JSON.stringify(body) }),
      },
      { attempts: ATTEMPTS, deadlineMs: form ? undefined : DEADLINE, signal },
    );
    const type = response.headers.get('Content-Type') ?? '';
    const isJson = /\bjson\b/.test(type);
    const value = isJson ? await response.json() : undefined;
    const { ok, status } = response;
    if (ok) {
      const lines = /\bx-ndjson\b/.test(type) ? readLines(response, signal) : undefined;
      return {
        ok,
        status,
        body: value,
        headers: response.headers,
        lines,
        next: readNext(response.headers.get('Link')),
      };
    }
    if (status >= 500 || !isJson) throw new ApiError(status, value);
    return { ok, problem: value };
  });
}

/** Reads a body of NDJSON. Its connection is freed if the caller stops to read. */
async function* readLines({ body, status, headers }: Response, signal?: AbortSignal): AsyncGenerator<unknown> {
  // Safari cannot iterate over the stream.
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    while (reader) {
      const { done, value } = await reader.read().catch(() => {
        signal?.throwIfAborted();
        throw new ApiError(status, undefined, headers.get(REQUEST_ID_HEADER) ?? '');
      });
      if (done) return;
      const lines = (rest + value).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield JSON.parse(line);
    }
  } finally {
    reader?.cancel().catch(() => {});
  }
}

/** Returns the cursor of `Link: </api/todos?cursor=20>; rel="next"`. */
function readNext(link: string | null): string | undefined {
  const [, search = ''] = /\?([^>]*)>; rel="next"/.exec(link ?? '') ?? [];
  return new URLSearchParams(search).get('cursor') ?? undefined;
}

export function toSearch(query: Readonly<Record<string, unknown>>): URLSearchParams {
  return new URLSearchParams(toPairs(query).map(([name, value]) => [name, toText(name, value)]));
}

/** Returns undefined for a body without files. */
function toForm(body: unknown): FormData | undefined {
  const pairs = toPairs(Object(body));
  if (!pairs.some(([, value]) => value instanceof Blob)) return undefined;
  const form = new FormData();
  for (const [name, value] of pairs) form.append(name, value instanceof Blob ? value : toText(name, value));
  return form;
}

function toText(name: string, value: unknown): string {
  const text = String(value);
  if (text === '[object Object]') throw new TypeError(`${name} is ${text}`);
  return text;
}

/** Lists become repeated names, and undefined values are left out. */
function toPairs(values: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(values).flatMap(([name, value]) =>
    [value].flat().flatMap((one): [string, unknown][] => (one === undefined ? [] : [[name, one]])),
  );
}
