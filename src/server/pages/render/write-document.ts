import { ASSET_PREFIX, PAYLOAD_ID } from '../../../shared/wire/protocol.ts';
import { encode, toScriptText } from '../../../shared/wire/wire.ts';
import { escapeHtml } from '../../errors/escape-html.ts';
import { BOOT_ID } from '../../front/content-policy.ts';
import type { PageRequest } from '../page-request.ts';
import type { PageServices } from '../page-response.ts';
import { askForWhole, toTraceMeta } from './document-head.ts';
import { type EncodedPage, toEncodeOptions, toEtag } from './encode-page.ts';
import type { PageTarget } from './page-sink.ts';
import type { RenderedPage } from './render-page.tsx';

interface WrittenDocument {
  readonly services: PageServices;
  readonly pageRequest: PageRequest;
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
 * Writes a rendered page with its payload. The promise resolves when it was written or abandoned, and never rejects.
 */
export function writeDocument(document: WrittenDocument): Promise<void> {
  const { services, pageRequest, page, rendered, target, nonce, trace, lines } = document;
  // A failed render does not show the loaded page.
  const isAsLoaded = rendered.payload === page.payload;
  const { head, late } = isAsLoaded ? page.encoded : encode(rendered.payload, toEncodeOptions(document));
  lines?.push(head);
  const mayKeep = !late && !rendered.payload.errors;
  const etag = mayKeep ? ` data-etag="${escapeHtml(toEtag(services.manifest, page.loaded.version ?? head))}"` : '';
  return rendered.render.send({
    target,
    lead: toEarlyScript(services, nonce) + (nonce === undefined ? '' : (trace ?? toTraceMeta(pageRequest.info.trace))),
    tail: [
      `<script type="application/json" id="${PAYLOAD_ID}"${etag}>`,
      toScriptText(head),
      `</script>${entryScripts(services, nonce)}`,
    ],
    late: late && lines ? keepLines(late, lines) : late,
    whenStreaming: nonce === undefined || pageRequest.whole ? undefined : askForWhole(pageRequest),
  });
}

async function* keepLines(late: AsyncIterable<string>, lines: string[]): AsyncGenerator<string, void> {
  for await (const line of late) {
    lines.push(line);
    yield line;
  }
}

function toEarlyScript({ policy }: PageServices, nonce: string | undefined): string {
  if (policy.earlyScript === '') return '';
  return `<script${nonce === undefined ? '' : ` nonce="${nonce}"`}>${policy.earlyScript}</script>`;
}

function entryScripts(services: PageServices, nonce: string | undefined): string {
  const { script } = services.manifest.entry;
  if (!script.startsWith(ASSET_PREFIX))
    throw new Error(`The manifest names an entry outside ${ASSET_PREFIX}: build again.`);
  if (nonce !== undefined) return `<script type="module" async nonce="${nonce}" src="${script}"></script>`;
  return (
    `<script type="application/json" id="${BOOT_ID}">${toScriptText(JSON.stringify([script]))}</script>` +
    `<script>${services.policy.bootScript}</script>`
  );
}
