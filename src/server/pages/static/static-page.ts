import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { PageError } from '../../../shared/wire/payload.ts';
import { WIRE_TYPE } from '../../../shared/wire/protocol.ts';
import { acceptsEncoding, addVary, matchesEtag } from '../../request/request-headers.ts';
import type { CachedStaticPage, CodedPage } from '../cached-page.ts';
import { loadPage } from '../load-page.ts';
import { type Answer, setPageHeaders, setStatus } from '../page-response.ts';
import type { PageServices } from '../page-services.ts';
import { encodePage, toEtag } from '../render/encode-page.ts';
import { renderPage } from '../render/render-page.tsx';
import { writeDocument } from '../render/write-document.ts';
import { MemoryTarget, renderForEveryone, type SharedPageRequest } from '../shared-page.ts';

/** A static page is compressed every 300 s, in another thread, so this can be slow. */
const BROTLI_QUALITY = 8;

/**
 * Returns the page from memory, or renders it for everyone who waits for it. Undefined if the result is a redirect or
 * the last-resort page.
 */
export function getStaticPage(
  services: PageServices,
  pageRequest: SharedPageRequest,
): Promise<CachedStaticPage | undefined> {
  return services.caches.static.get(pageRequest.path + pageRequest.search, () =>
    renderForEveryone(services, pageRequest, () => renderStaticPage(services, pageRequest)),
  );
}

async function renderStaticPage(
  services: PageServices,
  pageRequest: SharedPageRequest,
): Promise<CachedStaticPage | undefined> {
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
  const failed = pageRequest.hasFailed || errors !== undefined;
  const name = hash('sha1', html, 'base64url');
  const coded = services.app.settings.compression ? await compressPage(html, name) : undefined;
  const bytes = (coded ?? []).reduce((sum, copy) => sum + copy.bytes.length, html.length + data.length);
  return {
    bytes,
    route: pageRequest.match.pattern,
    html,
    etag: `"${name}"`,
    coded,
    data,
    dataEtag: toEtag(services.server.manifest, data),
    failed: failed ? toFailed(errors) : undefined,
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

function toFailed(errors: Readonly<Record<string, PageError>> = {}): CachedStaticPage['failed'] {
  const [shown] = Object.values(errors);
  return { status: shown?.status ?? 200, digest: shown?.digest };
}

/** Sends a cached page, with a constant policy and a validator, so that every cache can store it. */
export function sendStaticPage(answer: Answer, page: CachedStaticPage): void {
  const { response } = answer;
  const { policy } = answer.services.server;
  const { headers, method } = response.req;
  const accepted = String(headers['accept-encoding'] ?? '');
  const coded = page.coded?.find(({ coding }) => acceptsEncoding(accepted, coding));
  const { etag, bytes } = coded ?? { etag: page.etag, bytes: page.html };
  setStaticHeaders(answer, page, etag);
  if (page.coded) addVary(response, 'Accept-Encoding');
  response.setHeader('Content-Security-Policy', policy.forStatic());
  response.setHeader('Content-Security-Policy-Report-Only', policy.reportOnly());
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
export function sendStaticData(answer: Answer, page: CachedStaticPage): void {
  const { response } = answer;
  setStaticHeaders(answer, page, page.dataEtag);
  response.setHeader('Content-Type', WIRE_TYPE);
  const unchanged = !page.failed && matchesEtag(response.req.headers['if-none-match'], page.dataEtag);
  if (unchanged) response.statusCode = 304;
  response.end(unchanged ? undefined : `${page.data}\n`);
}

/** Status and headers that the document and its data share. */
function setStaticHeaders(answer: Answer, { failed }: CachedStaticPage, etag: string): void {
  setPageHeaders(answer, failed ? 'no-store' : 'public, no-cache');
  setStatus(answer, failed?.status ?? 200, failed?.digest);
  if (!failed) answer.response.setHeader('ETag', etag);
}
