import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { PageError } from '../../../shared/wire/payload.ts';
import { WIRE_TYPE } from '../../../shared/wire/protocol.ts';
import { acceptsEncoding, addVary, matchesEtag } from '../../request/request-headers.ts';
import type { CodedPage, KeptPage } from '../kept.ts';
import { loadPage } from '../load-page.ts';
import type { PageRequest } from '../page-request.ts';
import { type Answer, type PageExchange, type PageServices, setPageHeaders, setStatus } from '../page-response.ts';
import { encodePage, toEtag } from '../render/encode-page.ts';
import { renderPage } from '../render/render-page.tsx';
import { writeDocument } from '../render/write-document.ts';
import { MemoryTarget, renderForEveryone } from '../shared-render.ts';

/** A static page is compressed every 300 s, in another thread, so this can be slow. */
const BROTLI_QUALITY = 8;

/**
 * Returns the page from memory, or renders it for everyone who waits for it. Undefined if the result is a redirect or
 * the last-resort page.
 */
export function getKeptPage(services: PageServices, pageRequest: PageRequest): Promise<KeptPage | undefined> {
  return services.cache.get(pageRequest.path + pageRequest.search, () =>
    renderForEveryone(services, pageRequest, (watched, hasFailed) => renderKeptPage(watched, pageRequest, hasFailed)),
  );
}

async function renderKeptPage(
  services: PageServices,
  pageRequest: PageRequest,
  hasFailed: () => boolean,
): Promise<KeptPage | undefined> {
  const loaded = await loadPage({ services, pageRequest });
  if (loaded.kind !== 'page') return undefined;
  const page = encodePage({ services, pageRequest }, loaded);
  const rendered = await renderPage({ services, pageRequest, payload: page.payload });
  if (rendered.kind !== 'page') return undefined;
  const target = new MemoryTarget();
  const lines: string[] = [];
  await writeDocument({ services, pageRequest, page, rendered, target, lines });
  const { errors } = rendered.payload;
  const html = target.bytes;
  const data = lines.join('\n');
  const failed = hasFailed() || errors !== undefined;
  const name = hash('sha1', html, 'base64url');
  const coded = services.compresses ? await compressPage(html, name) : undefined;
  const bytes = (coded ?? []).reduce((sum, copy) => sum + copy.bytes.length, html.length + data.length);
  return {
    bytes,
    route: pageRequest.match.pattern,
    html,
    etag: `"${name}"`,
    ...(coded ? { coded } : {}),
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
