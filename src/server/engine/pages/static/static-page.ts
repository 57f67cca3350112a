import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { PageError } from '../../../../shared/engine/wire/payload.ts';
import { WIRE_TYPE } from '../../../../shared/engine/wire/protocol.ts';
import type { Funnel } from '../../errors/funnel.ts';
import { VisitorGone } from '../../errors/visitor-gone.ts';
import { acceptsEncoding } from '../../request/accept-encoding.ts';
import { addVary } from '../../request/add-vary.ts';
import { matchesEtag } from '../../request/etag.ts';
import { loadPage } from '../load-page.ts';
import type { PageMatch } from '../match-page.ts';
import { type PageRequest, PageTimeout } from '../page-request.ts';
import { type Answer, type PageExchange, type PageServices, setPageHeaders, setStatus } from '../page-response.ts';
import { encodePage, toEtag } from '../render/encode-page.ts';
import type { PageTarget } from '../render/page-sink.ts';
import { renderPage } from '../render/render-page.tsx';
import { writeDocument } from '../render/show-page.ts';
import type { CodedPage, KeptPage } from './static-cache.ts';

/** A static page is compressed every 300 s, in another thread, so this can be slow. */
const BROTLI_QUALITY = 8;

/** Returns the search keys of a static page in a fixed order, without all others. */
export function toSharedSearch(match: PageMatch, search: string): string {
  if (match.searchKeys.length === 0 || search === '') return '';
  const asked = new URLSearchParams(search);
  const kept = new URLSearchParams();
  for (const key of [...match.searchKeys].sort()) {
    for (const value of asked.getAll(key)) kept.append(key, value);
  }
  const text = kept.toString();
  return text && `?${text}`;
}

/**
 * Returns the page from memory, or renders it for everyone who waits for it. Undefined if the result is a redirect or
 * the last-resort page.
 */
export function getKeptPage(services: PageServices, pageRequest: PageRequest): Promise<KeptPage | undefined> {
  return services.cache.get(pageRequest.path + pageRequest.search, () => renderInTime(services, pageRequest));
}

/**
 * All visitors wait for this one render, and it does not end when they leave. So its deadline begins here, and it
 * counts as a page in progress itself, even if everyone has left.
 */
async function renderInTime(services: PageServices, pageRequest: PageRequest): Promise<KeptPage | undefined> {
  const { deadlineMs } = pageRequest;
  const leave = services.limiter?.enter();
  const timer = setTimeout(() => pageRequest.abort(new PageTimeout(deadlineMs)), deadlineMs);
  try {
    return await renderKeptPage(services, pageRequest);
  } finally {
    clearTimeout(timer);
    leave?.();
  }
}

async function renderKeptPage(services: PageServices, pageRequest: PageRequest): Promise<KeptPage | undefined> {
  // A deferred value, or content behind a boundary, can fail without failing the page.
  const watch = watchFunnel(services.funnel);
  const watched: PageServices = { ...services, funnel: watch.funnel };
  const loaded = await loadPage({ services: watched, pageRequest });
  if (loaded.kind !== 'page') return undefined;
  const page = encodePage({ services: watched, pageRequest }, loaded);
  const rendered = await renderPage({ services: watched, pageRequest, payload: page.payload });
  if (rendered.kind !== 'page') return undefined;
  const target = new MemoryTarget();
  const lines: string[] = [];
  await writeDocument({ services: watched, pageRequest, page, rendered, target, lines });
  const { errors } = rendered.payload;
  const html = target.bytes;
  const data = lines.join('\n');
  const failed = watch.hasFailed() || errors !== undefined || pageRequest.endedBy !== undefined;
  const name = hash('sha1', html, 'base64url');
  return {
    route: pageRequest.match.pattern,
    html,
    etag: `"${name}"`,
    ...(services.compresses ? { coded: await compressPage(html, name) } : {}),
    data,
    dataEtag: toEtag(services.manifest, data),
    ...(failed ? { failed: toFailed(errors) } : {}),
  };
}

async function compressPage(html: Buffer, name: string): Promise<CodedPage[]> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
  const [br, gzipped] = await Promise.all([promisify(brotliCompress)(html, { params }), promisify(gzip)(html)]);
  return [
    { coding: 'br', bytes: br, etag: `"${name}-br"` },
    { coding: 'gzip', bytes: gzipped, etag: `"${name}-gzip"` },
  ];
}

function toFailed(errors: Readonly<Record<string, PageError>> = {}): KeptPage['failed'] {
  const [shown] = Object.values(errors);
  return { status: shown?.status ?? 200, digest: shown?.digest };
}

function watchFunnel(funnel: Funnel): { readonly funnel: Funnel; hasFailed(): boolean } {
  let failed = false;
  return {
    funnel: {
      ...funnel,
      fail(error, context) {
        failed = true;
        return funnel.fail(error, context);
      },
    },
    hasFailed: () => failed,
  };
}

class MemoryTarget implements PageTarget {
  readonly #parts: Buffer[] = [];
  readonly destroyed = false;

  get bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  write(bytes: Buffer): boolean {
    this.#parts.push(bytes);
    return true;
  }

  end(bytes: Buffer): void {
    this.#parts.push(bytes);
  }

  on(): this {
    return this;
  }

  destroy(error?: Error): void {
    throw error ?? new VisitorGone();
  }
}

/** Sends a cached page, with a constant policy and a validator, so that every cache can store it. */
export function sendKeptPage(exchange: Answer, page: KeptPage): void {
  const { services, response } = exchange;
  const { headers, method } = response.req;
  const accepted = String(headers['accept-encoding'] ?? '');
  const coded = page.coded?.find(({ coding }) => acceptsEncoding(accepted, coding));
  const { etag, bytes } = coded ?? { etag: page.etag, bytes: page.html };
  setKeptHeaders(exchange, page, etag);
  if (page.coded) addVary(response, 'Accept-Encoding');
  response.setHeader('Content-Security-Policy', services.policy.forStatic());
  response.setHeader('Content-Security-Policy-Report-Only', services.policy.reportOnly());
  if (!page.failed && matchesEtag(headers['if-none-match'], etag)) {
    response.statusCode = 304;
    response.end();
    return;
  }
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  if (coded) response.setHeader('Content-Encoding', coded.coding);
  response.setHeader('Content-Length', bytes.length);
  if (method === 'HEAD') response.end();
  else response.end(bytes);
}

/** Sends the data of such a page: the same lines as in its document. */
export function sendKeptData(exchange: PageExchange, page: KeptPage): void {
  const { response } = exchange;
  setKeptHeaders(exchange, page, page.dataEtag);
  response.setHeader('Content-Type', WIRE_TYPE);
  const unchanged = !page.failed && matchesEtag(response.req.headers['if-none-match'], page.dataEtag);
  if (unchanged) response.statusCode = 304;
  response.end(unchanged ? undefined : `${page.data}\n`);
}

/** Status and headers that the document and its data share. */
function setKeptHeaders(exchange: Answer, { failed }: KeptPage, etag: string): void {
  setPageHeaders(exchange, failed ? 'no-store' : 'public, no-cache');
  setStatus(exchange, failed?.status ?? 200, failed?.digest);
  if (!failed) exchange.response.setHeader('ETag', etag);
}
