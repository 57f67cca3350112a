import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { PageError } from '../../../shared/wire/payload.ts';
import { NDJSON_TYPE } from '../../../shared/wire/protocol.ts';
import { addVary, type Coding, chooseCoding, matchesEtag } from '../../request/request-headers.ts';
import { endWith, HTML_TYPE } from '../../request/send-body.ts';
import { loadPage } from '../load-page.ts';
import { type CachedBody, type CachedStaticPage, type CodedBytes, isGone, toOwnBytes } from '../page-cache.ts';
import { type Answer, PUBLIC_CACHING, setPageHeaders, setStatus } from '../page-response.ts';
import type { PageRuntime } from '../page-runtime.ts';
import { encodePage, toEtag } from '../render/encode-page.ts';
import { renderPage } from '../render/render-page.tsx';
import { writeDocument } from '../render/write-document.ts';
import { MemoryTarget, renderForEveryone, type SharedPageRequest } from '../shared-page.ts';

/** A static page is compressed every 300 s, in another thread, so this can be slow. */
const STATIC_BROTLI_QUALITY = 8;

/**
 * Returns the page from memory, or renders it for everyone who waits for it. Undefined if the result is a redirect or
 * the last-resort page.
 */
export function getStaticPage(
  runtime: PageRuntime,
  pageRequest: SharedPageRequest,
): Promise<CachedStaticPage | undefined> {
  return runtime.caches.static.get(pageRequest.path + pageRequest.search, () =>
    renderForEveryone(runtime, pageRequest, () => renderStaticPage(runtime, pageRequest)),
  );
}

async function renderStaticPage(
  runtime: PageRuntime,
  pageRequest: SharedPageRequest,
): Promise<CachedStaticPage | undefined> {
  const loaded = await loadPage({ runtime, pageRequest });
  if (loaded.kind !== 'page') return undefined;
  const page = encodePage({ runtime, pageRequest }, loaded);
  const rendered = await renderPage({ runtime, pageRequest }, page.payload);
  if (rendered.kind !== 'page') return undefined;
  const target = new MemoryTarget();
  const lines: string[] = [];
  await writeDocument({ runtime, pageRequest }, { page, rendered, target, lines });
  const { errors } = rendered.payload;
  const failed = pageRequest.hasFailed || errors !== undefined;
  // One that failed is sent once, and not kept.
  const compress = runtime.app.settings.compression && !failed ? compressInTurn : undefined;
  const document = await createDocument(target.bytes, compress);
  const data = await createData(runtime, lines.join('\n'), compress);
  const copies = [document, data].flatMap((body) => [body, ...(body.coded ?? [])]);
  return {
    bytes: copies.reduce((sum, { bytes }) => sum + bytes.length, 0),
    route: pageRequest.match.pattern,
    document,
    data,
    failed: failed ? toFailed(errors) : undefined,
  };
}

async function createDocument(html: Buffer, compress: Compress | undefined): Promise<CachedBody> {
  const bytes = toOwnBytes(html);
  const name = hash('sha1', bytes, 'base64url');
  const coded = await compress?.(bytes, (coding) => `"${name}-${coding}"`);
  return { type: HTML_TYPE, bytes, etag: `"${name}"`, ...(coded && { coded }) };
}

async function createData({ server }: PageRuntime, data: string, compress: Compress | undefined): Promise<CachedBody> {
  const etag = toEtag(server.manifest, data);
  const bytes = toOwnBytes(Buffer.from(`${data}\n`));
  const coded = await compress?.(bytes, () => etag);
  return { type: NDJSON_TYPE, bytes, etag, ...(coded && { coded }) };
}

type Compress = typeof compressBody;

let last: Promise<unknown> = Promise.resolve();

/** One after the other: each takes several MB, also while it waits for a thread. */
function compressInTurn(...args: Parameters<Compress>): ReturnType<Compress> {
  const compressed = last.then(() => compressBody(...args));
  last = compressed.catch(() => undefined);
  return compressed;
}

/** Returns the copies that are smaller. */
async function compressBody(body: Buffer, toTag: (coding: Coding) => string): Promise<CodedBytes[]> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: STATIC_BROTLI_QUALITY };
  const [br, gzipped] = await Promise.all([promisify(brotliCompress)(body, { params }), promisify(gzip)(body)]);
  const copies = { br, gzip: gzipped } satisfies Record<Coding, Buffer>;
  return Object.entries(copies).flatMap(([name, bytes]) => {
    const coding = name as Coding; // a key of the copies
    return bytes.length < body.length ? [{ coding, bytes: toOwnBytes(bytes), etag: toTag(coding) }] : [];
  });
}

function toFailed(errors: Readonly<Record<string, PageError>> = {}): CachedStaticPage['failed'] {
  const [shown] = Object.values(errors);
  const status = shown?.status ?? 200;
  return { status, digest: shown?.digest, isGone: isGone(status) };
}

/** Sends a cached page, with a constant policy and a validator, so that every cache can store it. */
export function sendStaticPage(answer: Answer, page: CachedStaticPage): void {
  const { response } = answer;
  const { policy } = answer.runtime.server;
  response.setHeader('Content-Security-Policy', policy.forStatic());
  response.setHeader('Content-Security-Policy-Report-Only', policy.reportOnly());
  sendCachedBody(answer, page, page.document);
}

/** Sends the data of such a page: the same lines as in its document. */
export function sendStaticData(answer: Answer, page: CachedStaticPage): void {
  sendCachedBody(answer, page, page.data);
}

function sendCachedBody(answer: Answer, { failed }: CachedStaticPage, body: CachedBody): void {
  const { response } = answer;
  const { req } = response;
  const coding = body.coded && chooseCoding(req);
  const coded = body.coded?.find((copy) => copy.coding === coding);
  const { etag, bytes } = coded ?? body;
  setPageHeaders(answer, failed ? 'no-store' : PUBLIC_CACHING);
  setStatus(answer, failed?.status ?? 200, failed?.digest);
  if (!failed) response.setHeader('ETag', etag);
  if (body.coded) addVary(response, 'Accept-Encoding');
  if (!failed && matchesEtag(req.headers['if-none-match'], etag)) {
    response.statusCode = 304;
    response.end();
    return;
  }
  response.setHeader('Content-Type', body.type);
  if (coded) response.setHeader('Content-Encoding', coded.coding);
  response.setHeader('Content-Length', bytes.length);
  if (req.method === 'HEAD') response.end();
  else endWith(response, bytes);
}
