import { encode } from '../../../shared/wire/encode.ts';
import { ASSET_PREFIX, FULL_PAGE_KEY, PAYLOAD_ID } from '../../../shared/wire/protocol.ts';
import { escapeHtml, toScriptText } from '../../errors/escape-html.ts';
import { BOOT_ID, type ContentPolicy } from '../../front/content-policy.ts';
import { drawRandom } from '../../request/draw-random.ts';
import type { Trace } from '../../request/request-info.ts';
import type { PageRequest } from '../page-request.ts';
import { type EncodedPage, type Encoding, toEncodeOptions, toEtag } from './encode-page.ts';
import type { PageTarget } from './page-sink.ts';
import type { RenderedPage } from './render-page.tsx';

interface WrittenDocument {
  readonly page: EncodedPage;
  readonly rendered: RenderedPage;
  readonly target: PageTarget;
  /** Absent for a static page, which starts with the hashed boot script instead. */
  readonly nonce?: string;
  /** Stands in for what differs for each request, if the page is cached nevertheless. */
  readonly trace?: string;
  /** Receives each line of the page's data as it is written. */
  readonly lines?: string[];
}

/**
 * Puts the payload and the scripts around a rendered page, and has `PageSink` write all of it. The promise resolves when it
 * was written or abandoned, and rejects with what the target threw.
 */
export function writeDocument(
  { runtime, pageRequest }: Encoding,
  { page, rendered, target, nonce, trace, lines }: WrittenDocument,
): Promise<void> {
  const { manifest, policy } = runtime.server;
  // A failed render does not show the loaded page.
  const isAsLoaded = rendered.payload === page.payload;
  const { head, deferred } = isAsLoaded ? page.encoded : encode(rendered.payload, toEncodeOptions(pageRequest));
  lines?.push(head);
  const isCacheable = !deferred && !rendered.payload.errors;
  const etag = isCacheable ? ` data-etag="${escapeHtml(toEtag(manifest, page.loaded.version ?? head))}"` : '';
  return rendered.render.send(target, {
    lead: toEarlyScript(policy, nonce) + (nonce === undefined ? '' : (trace ?? toTraceMeta(pageRequest.info.trace))),
    tail: [
      `<script type="application/json" id="${PAYLOAD_ID}"${etag}>`,
      toScriptText(head),
      `</script>${toEntryScripts(manifest.entry.script, policy, nonce)}`,
    ],
    deferred: deferred && lines ? copyLines(deferred, lines) : deferred,
    whenStreaming: nonce === undefined || pageRequest.isFull ? undefined : askForFull(pageRequest),
  });
}

async function* copyLines(deferred: AsyncIterable<string>, lines: string[]): AsyncGenerator<string, void> {
  for await (const line of deferred) {
    lines.push(line);
    yield line;
  }
}

function toEarlyScript({ earlyScript }: ContentPolicy, nonce: string | undefined): string {
  if (earlyScript === '') return '';
  return `<script${nonce === undefined ? '' : ` nonce="${nonce}"`}>${earlyScript}</script>`;
}

function toEntryScripts(script: string, { bootScript }: ContentPolicy, nonce: string | undefined): string {
  if (!script.startsWith(ASSET_PREFIX))
    throw new Error(`The manifest names an entry outside ${ASSET_PREFIX}: build again.`);
  if (nonce !== undefined) return `<script type="module" async nonce="${nonce}" src="${script}"></script>`;
  return (
    `<script type="application/json" id="${BOOT_ID}">${toScriptText(JSON.stringify([script]))}</script>` +
    `<script>${bootScript}</script>`
  );
}

/**
 * A script moves deferred content to its place. Browsers without scripts follow this `<noscript>` to the same page with
 * all of its content.
 */
export function askForFull({ path, search }: Pick<PageRequest, 'path' | 'search'>): string {
  const url = `${path}${search ? `${search}&` : '?'}${FULL_PAGE_KEY}=1`;
  return `<noscript><meta http-equiv="refresh" content="0;url=${escapeHtml(url)}"></noscript>`;
}

/** Lets the browser continue the trace of the request for its document. A cached page has no trace. */
export function toTraceMeta({ traceId, parentId, sampled, spanId = drawRandom(8, 'hex') }: Trace): string {
  // Nothing is recorded here, so a trace that begins here has no sampling decision yet.
  const [decision, entry] = parentId === undefined ? ['', ''] : [`-${sampled ? 1 : 0}`, `,sentry-sampled=${sampled}`];
  return (
    `<meta name="sentry-trace" content="${traceId}-${spanId}${decision}"/>` +
    `<meta name="baggage" content="sentry-trace_id=${traceId}${entry}"/>`
  );
}
