import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request as ExpressRequest, Response as ExpressResponse } from 'express';
import type { PageError } from '../../../shared/engine/wire/payload.ts';
import { WIRE_TYPE } from '../../../shared/engine/wire/protocol.ts';
import type { Funnel } from '../errors/funnel.ts';
import { VisitorGone } from '../errors/visitor-gone.ts';
import { acceptsEncoding } from '../request/accept-encoding.ts';
import { requestInfo } from '../request/request-info.ts';
import { encodePage } from './encode-page.ts';
import { loadPage } from './load-page.ts';
import type { PageMatch } from './match-page.ts';
import { type PageHouse, setPageHeaders } from './page-house.ts';
import type { PageTarget } from './page-sink.ts';
import { matchesEtag, toEtag } from './payload.ts';
import { LastResort } from './render-page.tsx';
import { renderDocument, writeDocument } from './show-page.ts';
import type { CodedPage, KeptPage } from './static-cache.ts';
import { PageTimeout, type Visit } from './visit.ts';

/** Such a page is compressed once, and again each 300 s, beside the loop: it may take some milliseconds. */
const BROTLI_QUALITY = 8;

/** The part of a search that belongs to a static page, in one order, whatever the visitor wrote. */
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

/** The page out of memory, or rendered for everyone who waits for it; undefined where there is no page, but a redirect or the last resort. */
export function getKeptPage(house: PageHouse, visit: Visit): Promise<KeptPage | undefined> {
  return house.cache.get(visit.path + visit.search, () => renderInTime(house, visit));
}

/**
 * All visitors who come wait for this one render, and it does not end when they leave. So its deadline
 * begins here, and it counts among the pages in progress itself: leaving must not make it free.
 */
async function renderInTime(house: PageHouse, visit: Visit): Promise<KeptPage | undefined> {
  const { deadlineMs } = visit;
  const leave = house.limiter?.enter();
  const timer = setTimeout(() => visit.abort(new PageTimeout(deadlineMs)), deadlineMs);
  try {
    return await renderKeptPage(house, visit);
  } finally {
    clearTimeout(timer);
    leave?.();
  }
}

async function renderKeptPage(house: PageHouse, visit: Visit): Promise<KeptPage | undefined> {
  // A late value, and what stands behind a boundary, may fail without failing the page.
  const watch = watchFunnel(house.funnel);
  const watched: PageHouse = { ...house, funnel: watch.funnel };
  const loaded = await loadPage({ visit, pages: house.pages, funnel: watch.funnel });
  if (loaded.kind !== 'page') return undefined;
  const target = new MemoryTarget();
  const ended = Promise.withResolvers<void>();
  const lines: string[] = [];
  const page = encodePage(watched, visit, loaded);
  let { errors } = page.payload;
  const rendered = await renderDocument(watched, visit, page.payload, {
    whole: true,
    onReady(shell) {
      errors = shell.payload.errors;
      writeDocument(watched, visit, page, shell, target, undefined, {
        onLine: (line) => void lines.push(line),
        onEnd: ended.resolve,
      });
    },
  }).catch((error: unknown) => {
    if (error instanceof LastResort) return undefined;
    throw error;
  });
  if (rendered?.kind !== 'page') return undefined;
  await ended.promise;
  const html = target.bytes;
  const data = lines.join('\n');
  const failed = watch.hasFailed() || errors !== undefined || visit.endedBy !== undefined;
  const name = hash('sha1', html, 'base64url');
  return {
    html,
    etag: `"${name}"`,
    ...(house.compresses ? { coded: await compressPage(html, name) } : {}),
    data,
    dataEtag: toEtag(house.manifest, data),
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

/** A constant policy and a validator: such a page can be kept by whoever wants to. */
export function sendKeptPage(
  house: PageHouse,
  page: KeptPage,
  request: ExpressRequest,
  response: ExpressResponse,
): void {
  const accepted = String(request.headers['accept-encoding'] ?? '');
  const coded = page.coded?.find(({ coding }) => acceptsEncoding(accepted, coding));
  const { etag, bytes } = coded ?? { etag: page.etag, bytes: page.html };
  setKeptHeaders(response, house, page, etag);
  if (page.coded) response.vary('Accept-Encoding');
  response.setHeader('Content-Security-Policy', house.policy.forStatic());
  response.setHeader('Content-Security-Policy-Report-Only', house.policy.reportOnly());
  if (!page.failed && matchesEtag(request.headers['if-none-match'], etag)) {
    response.statusCode = 304;
    response.end();
    return;
  }
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  if (coded) response.setHeader('Content-Encoding', coded.coding);
  response.setHeader('Content-Length', bytes.length);
  if (request.method === 'HEAD') response.end();
  else response.end(bytes);
}

/** The data of such a page: the lines that its document carries. */
export function sendKeptData(
  house: PageHouse,
  page: KeptPage,
  request: ExpressRequest,
  response: ExpressResponse,
): void {
  setKeptHeaders(response, house, page, page.dataEtag);
  response.setHeader('Content-Type', WIRE_TYPE);
  const unchanged = !page.failed && matchesEtag(request.headers['if-none-match'], page.dataEtag);
  if (unchanged) response.statusCode = 304;
  response.end(unchanged ? undefined : `${page.data}\n`);
}

/** Status and headers that the document and its data share. */
function setKeptHeaders(response: ExpressResponse, house: PageHouse, { failed }: KeptPage, etag: string): void {
  setPageHeaders(response, house, failed ? 'no-store' : 'public, no-cache');
  response.statusCode = failed?.status ?? 200;
  if (!failed) response.setHeader('ETag', etag);
  if (!failed?.digest) return;
  requestInfo(response.req).digest = failed.digest;
  response.setHeader('X-Error-Digest', failed.digest);
}
