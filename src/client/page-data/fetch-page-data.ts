import { PROBLEM_TYPE, type Problem } from '../../shared/api/problem.ts';
import { fetchWithRetry, toRetryAfterMs } from '../../shared/fetch-with-retry.ts';
import { publicError } from '../../shared/routing/control-flow.ts';
import { Minute, Second } from '../../shared/units.ts';
import { createDecoder, type Decoder, WireFailure } from '../../shared/wire/decode.ts';
import type { PagePayload, RedirectPayload } from '../../shared/wire/payload.ts';
import {
  BUILD_HEADER,
  DIGEST_HEADER,
  HOLES_KEY,
  NDJSON_TYPE,
  RETRY_HEADER,
  toDataUrl,
} from '../../shared/wire/protocol.ts';

export interface PageResult {
  readonly kind: 'page';
  readonly payload: PagePayload;
  readonly status: number;
  /** Absent while values are still pending. */
  readonly etag: string | undefined;
  /**
   * Settles with the last deferred value; rejects if the connection is lost before. False if a value of a prefetch was
   * rejected: the server opened no incident for it, so its promise stays pending.
   */
  readonly done: Promise<boolean>;
  /** The first line of the answer to a form, as it was sent. */
  readonly answer?: string;
  /** The lines of a page with `mode: 'shell'`. Its holes are not in them, and need new promises each time. */
  readonly lines?: readonly string[];
}

export type PageDataResult =
  | PageResult
  | { readonly kind: 'redirect'; readonly payload: RedirectPayload }
  /** The URL is not a page of the app: load it as a document. */
  | { readonly kind: 'not-page' }
  /** The server is overloaded, and did nothing. */
  | { readonly kind: 'busy' }
  /** No response arrived, or one of another server (a proxy, a sign-in page): load the document to find out. */
  | { readonly kind: 'failed'; readonly error: Error };

export interface FetchPageDataOptions {
  /** The path that all pages of the app share (`/admin`), empty for none. */
  readonly base: string;
  /** Maximum number of attempts if the server fails (count, including the first). */
  readonly attempts: number;
  /** Ends the request, and its deferred values too. */
  readonly signal?: AbortSignal;
  /** Marks the request as a prefetch, which the server can refuse under load, and which is sent once. */
  readonly prefetch?: boolean;
  /** The address of the failure of a prefetch that this request repeats. */
  readonly retryOf?: string | undefined;
}

/** A page's version, as HEAD returns it. */
interface PageVersion {
  readonly etag: string | undefined;
  readonly build: string | undefined;
}

/** All attempts together (ms). */
const RETRY_DEADLINE = 10 * Second;

/**
 * Fetches the data of the page at `url` (path and query), and resolves as soon as the first line has arrived, or all
 * lines of a shell.
 *
 * @throws the reason of `signal` if it is aborted before that; nothing else
 */
export async function fetchPageData(url: string, options: FetchPageDataOptions): Promise<PageDataResult> {
  try {
    const result = await readPageData(await request(url, 'GET', options), options.signal, options.prefetch);
    if (result.kind === 'page' && result.lines) await result.done;
    return result;
  } catch (error) {
    options.signal?.throwIfAborted();
    return { kind: 'failed', error: error instanceof Error ? error : new Error(String(error)) };
  }
}

/** Requests the holes of a page with `mode: 'shell'`. */
export function fetchHoles(url: string, options: FetchPageDataOptions): Promise<Response> {
  return request(`${url}${url.includes('?') ? '&' : '?'}${HOLES_KEY}=`, 'GET', options);
}

/**
 * Returns the page with new promises for its holes.
 *
 * @param holes the response of `fetchHoles`
 * @param isRefused if it returns true, the page is loaded again, and the promises stay pending
 */
export function fillShell(
  shell: PageResult,
  holes: Promise<Response>,
  isRefused: (response: Response) => boolean,
  signal?: AbortSignal,
): PageResult {
  const decoder = createDecoder();
  const [head = '', ...deferred] = shell.lines ?? [];
  const payload = decoder.head(head) as PagePayload;
  for (const line of deferred) decoder.deferred(line);
  const done = readHoles(holes, decoder, isRefused, signal).then(() => true);
  done.catch(() => {}); // each deferred value has its own rejection
  return { ...shell, payload, done };
}

async function readHoles(
  holes: Promise<Response>,
  decoder: Decoder,
  isRefused: (response: Response) => boolean,
  signal: AbortSignal | undefined,
): Promise<void> {
  const response = await holes.catch((error: unknown) => decoder.abort(error));
  if (response && !isRefused(response)) await readDeferred(readHoleLines(response), decoder, signal);
}

async function* readHoleLines(response: Response): Lines {
  const lines = readLines(response);
  try {
    if (!isPageData(response)) refuse(response, (await lines.next()).value ?? '');
    yield* lines;
  } finally {
    await lines.return(undefined);
  }
  return undefined;
}

const isPageData = ({ headers }: Response) => !!headers.get('Content-Type')?.startsWith(NDJSON_TYPE);

/** @throws the error of an answer that has no page data */
function refuse(response: Response, first: string): never {
  const { status, headers } = response;
  const digest = headers.get(DIGEST_HEADER);
  if (digest) throw new WireFailure({ kind: 'failure', status, digest });
  if (status >= 400) publicError(status, readDetail(response, first) ?? explain(response));
  throw new Error(`The server answered ${status}, and not with page data.`);
}

/** Asks for a page's version only. Returns undefined if the server cannot say. Never throws. */
export async function fetchPageVersion(url: string, options: FetchPageDataOptions): Promise<PageVersion | undefined> {
  try {
    const { status, headers } = await request(url, 'HEAD', options);
    if (status >= 500) return undefined;
    return { etag: headers.get('ETag') ?? undefined, build: headers.get(BUILD_HEADER) ?? undefined };
  } catch {
    return undefined;
  }
}

function request(
  url: string,
  method: 'GET' | 'HEAD',
  { base, attempts, signal, prefetch = false, retryOf }: FetchPageDataOptions,
): Promise<Response> {
  const headers = {
    Accept: NDJSON_TYPE,
    ...(prefetch && { Purpose: 'prefetch' }),
    ...(retryOf && { [RETRY_HEADER]: retryOf }),
  };
  return fetchWithRetry(
    toDataUrl(url, base),
    { method, headers },
    {
      attempts: prefetch ? 1 : attempts,
      deadlineMs: attempts > 1 ? RETRY_DEADLINE : undefined,
      signal,
    },
  );
}

/**
 * Also reads the response to a form that was posted in the background: it has the same format.
 *
 * @throws Error if the response does not have the format
 */
export async function readPageData(
  response: Response,
  signal?: AbortSignal,
  isPrefetch = false,
): Promise<PageDataResult> {
  const lines = readLines(response);
  let result: PageDataResult | undefined;
  try {
    result = await readFirst(response, lines, signal, isPrefetch);
    return result;
  } finally {
    if (result?.kind !== 'page') await lines.return(undefined);
  }
}

type Lines = ReturnType<typeof readLines>;

async function readFirst(
  response: Response,
  lines: Lines,
  signal: AbortSignal | undefined,
  isPrefetch: boolean,
): Promise<PageDataResult> {
  const { status, headers } = response;
  const first = (await lines.next()).value ?? '';
  if (status === 503 && hasMark(first, 'busy')) return { kind: 'busy' };
  if (status === 404 && hasMark(first, 'notPage')) return { kind: 'not-page' };
  if (!isPageData(response)) return readRedirect(response) ?? refuse(response, first);
  const decoder = createDecoder();
  const payload = Object(decoder.head(first)) as Partial<PagePayload & RedirectPayload>;
  if (typeof payload.redirect === 'string') return { kind: 'redirect', payload: payload as RedirectPayload };
  if (!Array.isArray(payload.routes)) throw new Error('The first line of the page data is not a page.');
  const copy = payload.shell && [first];
  // A static page is rendered for everyone, so its failure is in an incident.
  const done = readDeferred(lines, decoder, signal, { copy, isPrefetch: isPrefetch && !payload.static });
  done.catch(() => {}); // each deferred value has its own rejection
  const etag = headers.get('ETag') ?? undefined;
  const more = { ...(copy && { lines: copy }), ...(payload.action && { answer: first }) };
  return { kind: 'page', payload: payload as PagePayload, status, etag, done, ...more };
}

/** Returns where a step of the product redirected: `fetch` has followed it, to a document. */
function readRedirect({ redirected, url }: Response): PageDataResult | undefined {
  const target = redirected && new URL(url);
  if (!target || target.origin !== location.origin) return undefined;
  const redirect = target.pathname + target.search;
  return { kind: 'redirect', payload: { build: '', redirect, reload: true, unsent: true } };
}

/** Returns what a step of the product says to the visitor. */
function readDetail({ headers }: Response, line: string): string | undefined {
  if (!headers.get('Content-Type')?.startsWith(PROBLEM_TYPE)) return undefined;
  const { detail } = JSON.parse(line) as Problem;
  return detail;
}

/** Explains the answer of another server, such as a proxy, to the visitor. It is not a failure of this one. */
function explain({ status, headers }: Response): string {
  const waitMs = toRetryAfterMs(headers.get('Retry-After'));
  const wait = waitMs < 2 * Minute ? `${Math.ceil(waitMs / Second)} s` : `${Math.ceil(waitMs / Minute)} min`;
  const later = `Try again in ${waitMs > 0 ? wait : 'a few minutes'}.`;
  if (status === 413) return 'This is more than the site accepts. Choose smaller files, or shorten the text.';
  if (status === 429) return `There were too many requests. ${later}`;
  if (status >= 500) return `The site is not available at the moment. ${later}`;
  return `The request was refused with status ${status}.`;
}

interface DeferredOptions {
  /** Receives the lines of a shell, whose holes have no lines. */
  readonly copy?: string[] | undefined;
  readonly isPrefetch?: boolean;
}

async function readDeferred(
  lines: Lines,
  decoder: Decoder,
  signal: AbortSignal | undefined,
  { copy, isPrefetch }: DeferredOptions = {},
): Promise<boolean> {
  try {
    for await (const line of lines) {
      if (isPrefetch && /^\[\d+,1,/.test(line)) return false;
      decoder.deferred(line);
      copy?.push(line);
    }
    if (decoder.pending > 0 && !copy) throw new Error('The connection ended before all of the page was there.');
    return true;
  } catch (cause) {
    const error = signal?.aborted ? signal.reason : cause;
    decoder.abort(error);
    throw error;
  }
}

async function* readLines({ body }: Response): AsyncGenerator<string, undefined, undefined> {
  if (!body) return undefined;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      const lines = chunk.value.split('\n');
      lines[0] = rest + lines[0];
      rest = lines.pop() ?? '';
      yield* lines.filter(Boolean);
    }
    if (rest) yield rest;
  } finally {
    reader.cancel().catch(() => {});
  }
  return undefined;
}

/** `{"notPage":true}` */
function hasMark(line: string, mark: 'notPage' | 'busy'): boolean {
  try {
    return Object(JSON.parse(line))[mark] === true;
  } catch {
    return false;
  }
}
