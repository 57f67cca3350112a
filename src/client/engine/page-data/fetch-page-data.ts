import { fetchWithRetry } from '../../../shared/engine/retry.ts';
import type { PagePayload, RedirectPayload } from '../../../shared/engine/wire/payload.ts';
import { BUILD_HEADER, DIGEST_HEADER, toDataUrl, WIRE_TYPE } from '../../../shared/engine/wire/protocol.ts';
import { createDecoder, type Decoder, WireFailure } from '../../../shared/engine/wire/wire.ts';
import { Second } from '../../../shared/units.ts';

export interface PageResult {
  readonly kind: 'page';
  readonly payload: PagePayload;
  readonly status: number;
  /** There is none where values are still to come. */
  readonly etag: string | undefined;
  readonly build: string;
  /** When the last late value is there; rejects where the connection was lost before. */
  readonly done: Promise<void>;
}

export type PageDataResult =
  | PageResult
  | { readonly kind: 'redirect'; readonly location: string; readonly reload: boolean; readonly build: string }
  /** The URL is none of the app's pages: load it as a document. */
  | { readonly kind: 'not-page' }
  /** The server has too much to do, and did nothing. */
  | { readonly kind: 'busy' }
  /** It is what the given `etag` names. */
  | { readonly kind: 'unchanged' }
  /** No answer came, or one that is not ours (of a proxy, a sign-in page): load the document to see. */
  | { readonly kind: 'failed'; readonly error: Error };

export interface FetchPageDataOptions {
  readonly fetch: typeof globalThis.fetch;
  /** The path that all pages of the app share (`/desk`); none by default. */
  readonly base?: string;
  /** Ends the request, and the late values too. */
  readonly signal?: AbortSignal;
  /** Tells the server, which may refuse prefetches under load. */
  readonly prefetch?: boolean;
  /** Asks for the page only where it differs from this version. */
  readonly etag?: string;
  /** How often a request that the server failed may be made (a count); 1 by default. */
  readonly attempts?: number;
}

/** What HEAD tells of a page; undefined where no answer came. */
export interface PageVersion {
  readonly status: number;
  readonly etag: string | undefined;
  readonly build: string | undefined;
}

/** All attempts together (ms). */
const RETRY_DEADLINE = 10 * Second;

/**
 * Fetches the data of the page at `url` (path and search), and resolves as soon as its first line is there.
 *
 * @throws what `signal` was aborted with, if that was before the first line; nothing else
 */
export async function fetchPageData(url: string, options: FetchPageDataOptions): Promise<PageDataResult> {
  try {
    return await readPageData(await request(url, 'GET', options), options.signal);
  } catch (error) {
    options.signal?.throwIfAborted();
    return { kind: 'failed', error: error instanceof Error ? error : new Error(String(error)) };
  }
}

/** Asks for a page's version alone. Throws only what `signal` was aborted with. */
export async function fetchPageVersion(url: string, options: FetchPageDataOptions): Promise<PageVersion | undefined> {
  try {
    const { status, headers } = await request(url, 'HEAD', options);
    return { status, etag: headers.get('ETag') ?? undefined, build: headers.get(BUILD_HEADER) ?? undefined };
  } catch {
    options.signal?.throwIfAborted();
    return undefined;
  }
}

function request(url: string, method: 'GET' | 'HEAD', options: FetchPageDataOptions): Promise<Response> {
  const headers: Record<string, string> = { Accept: WIRE_TYPE };
  if (options.prefetch) headers.Purpose = 'prefetch';
  if (options.etag) headers['If-None-Match'] = options.etag;
  const attempts = options.attempts ?? 1;
  return fetchWithRetry(
    options.fetch,
    toDataUrl(url.replace(/#.*$/s, ''), options.base),
    { method, headers },
    {
      attempts,
      deadlineMs: attempts > 1 ? RETRY_DEADLINE : undefined,
      signal: options.signal,
      // A prefetch that the server has no time for is not worth a second question.
      isFinal: ({ status }) => options.prefetch === true && status === 503,
    },
  );
}

/**
 * Also reads what a form that is posted in the background is answered: it has the same format.
 *
 * @throws Error where the response is not in it
 */
export async function readPageData(response: Response, signal?: AbortSignal): Promise<PageDataResult> {
  const lines = readLines(response);
  try {
    const result = await readFirst(response, lines, signal);
    if (result.kind !== 'page') await lines.return(undefined);
    return result;
  } catch (error) {
    await lines.return(undefined);
    throw error;
  }
}

type Lines = ReturnType<typeof readLines>;

async function readFirst(response: Response, lines: Lines, signal: AbortSignal | undefined): Promise<PageDataResult> {
  const { status, headers } = response;
  if (status === 304) return { kind: 'unchanged' };
  const first = (await lines.next()).value ?? '';
  if (status === 503 && saysOf(first, 'busy')) return { kind: 'busy' };
  if (status === 404 && saysOf(first, 'notPage')) return { kind: 'not-page' };
  if (!headers.get('Content-Type')?.startsWith(WIRE_TYPE)) {
    const digest = headers.get(DIGEST_HEADER);
    if (digest) throw new WireFailure({ kind: 'failure', status, digest });
    throw new Error(`The server answered ${status}, and not with page data.`);
  }
  const decoder = createDecoder();
  const payload = decoder.head(first);
  const build = headers.get(BUILD_HEADER);
  if (isRedirect(payload)) {
    return {
      kind: 'redirect',
      location: payload.redirect,
      reload: payload.reload ?? false,
      build: build ?? payload.build,
    };
  }
  if (!isPage(payload)) throw new Error('The first line of the page data is no page.');
  const done = readLate(lines, decoder, signal);
  done.catch(noop); // each late value has its own rejection
  return { kind: 'page', payload, status, etag: headers.get('ETag') ?? undefined, build: build ?? payload.build, done };
}

async function readLate(lines: Lines, decoder: Decoder, signal: AbortSignal | undefined): Promise<void> {
  try {
    for await (const line of lines) decoder.late(line);
    if (decoder.pending > 0) throw new Error('The connection ended before all of the page was there.');
  } catch (cause) {
    const error = signal?.aborted ? signal.reason : cause;
    decoder.abort(error);
    throw error;
  }
}

async function* readLines(response: Response): AsyncGenerator<string, undefined, undefined> {
  if (!response.body) return undefined;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let searched = 0;
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      rest += decoder.decode(chunk.value, { stream: true });
      let start = 0;
      for (let end = rest.indexOf('\n', searched); end !== -1; end = rest.indexOf('\n', start)) {
        if (end > start) yield rest.slice(start, end);
        start = end + 1;
      }
      rest = rest.slice(start);
      searched = rest.length;
    }
    rest += decoder.decode();
    if (rest) yield rest;
  } finally {
    reader.cancel().catch(noop);
  }
  return undefined;
}

/** `{"notPage":true}` */
function saysOf(line: string, word: 'notPage' | 'busy'): boolean {
  try {
    return (JSON.parse(line) as { [key in typeof word]?: unknown })[word] === true;
  } catch {
    return false;
  }
}

function isRedirect(value: unknown): value is RedirectPayload {
  return typeof value === 'object' && value !== null && 'redirect' in value && typeof value.redirect === 'string';
}

function isPage(value: unknown): value is PagePayload {
  return typeof value === 'object' && value !== null && 'routes' in value && Array.isArray(value.routes);
}

function noop(): void {}
