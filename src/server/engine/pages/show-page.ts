import type { Response as ExpressResponse } from 'express';
import type { Engine } from '../../../shared/engine/rendering/engine-context.ts';
import FailureHelpView from '../../../shared/engine/rendering/failure-help-view.tsx';
import type { ActionOutcome, PagePayload } from '../../../shared/engine/wire/payload.ts';
import { ASSET_PREFIX, PAYLOAD_ID, WHOLE_KEY } from '../../../shared/engine/wire/protocol.ts';
import { encode, toScriptText } from '../../../shared/engine/wire/wire.ts';
import { sendLastResort } from '../errors/error-handler.ts';
import { escapeHtml } from '../errors/escape-html.ts';
import { VisitorGone } from '../errors/visitor-gone.ts';
import { sendBusy } from '../protection/busy-page.ts';
import { BOOT_ID } from '../protection/content-policy.ts';
import { drawRandom } from '../request/random.ts';
import type { Trace } from '../request/request-info.ts';
import { type EncodedPage, encodePage, toEncodeOptions, toPageErrorOf } from './encode-page.ts';
import { type LoadedPage, loadPage } from './load-page.ts';
import { createNonce } from './nonce.ts';
import { type PageHouse, sendRedirect, setPageHeaders } from './page-house.ts';
import { PageSink, type PageTarget } from './page-sink.ts';
import { preloadsOf, toEtag } from './payload.ts';
import { LastResort, type Rendered, type RenderedPage, type RenderOptions, renderPage } from './render-page.tsx';
import { HOST_REFUSAL } from './shared-args.ts';
import { SharedVisit, type Visit } from './visit.ts';

/** Guards and loaders, then the document. HEAD stops before the render. */
export async function showPage(house: PageHouse, visit: Visit, response: ExpressResponse): Promise<void> {
  const { pages, funnel } = house;
  const loaded = await loadPage({ visit, pages, funnel, versioned: visit.method !== 'HEAD' });
  if (loaded.kind === 'gone') return;
  if (loaded.kind === 'redirect') return sendRedirect(response, house, loaded.status, loaded.location);
  await sendDocument(house, visit, response, loaded);
}

/** Renders what was loaded, and streams it. */
export async function sendDocument(
  house: PageHouse,
  visit: Visit,
  response: ExpressResponse,
  loaded: LoadedPage,
  action?: ActionOutcome,
): Promise<void> {
  const page = encodePage(house, visit, loaded, action);
  const { payload } = page;
  const status = action && page.loaded.status === 200 ? action.status : page.loaded.status;
  const nonce = createNonce();
  if (visit.method === 'HEAD') {
    setDocumentHeaders(house, visit, response, payload, status, nonce);
    response.end();
    visit.abort(new VisitorGone()); // nobody waits for what is late
    return;
  }
  // What has acted, and what tells of a failure, is answered however long it takes.
  const mayRefuse = visit.method === 'GET' && !action && !page.loaded.errors;
  const asked = performance.now();
  const turn = house.limiter?.acquire(visit, mayRefuse);
  if (turn && !(await turn)) {
    if (!(visit.endedBy instanceof VisitorGone)) sendBusy(response.req, response);
    return;
  }
  visit.timings?.add('queue', asked);
  const begun = performance.now();
  const rendered = await renderDocument(house, visit, payload, {
    nonce,
    whole: visit.whole,
    onReady(shell) {
      visit.leave();
      visit.timings?.add('render', begun);
      visit.timings?.write(response);
      setDocumentHeaders(house, visit, response, shell.payload, shell.error?.status ?? status, nonce);
      writeDocument(house, visit, page, shell, response, nonce);
    },
  }).catch((error: unknown) => {
    if (error instanceof LastResort) return error;
    throw error;
  });
  if (rendered instanceof LastResort) {
    visit.info.digest = rendered.pageError.digest;
    sendLastResort(response.req, response, rendered.pageError, house.takesFeedback);
    return;
  }
  if (rendered.kind === 'redirect') sendRedirect(response, house, rendered.status, rendered.location);
}

export function renderDocument(
  house: PageHouse,
  visit: Visit,
  payload: PagePayload,
  { nonce, whole, onReady }: Pick<RenderOptions, 'nonce' | 'whole' | 'onReady'>,
): Promise<Rendered> {
  return renderPage({
    visit,
    payload,
    tree: house.tree,
    engine: {
      ...toHost(house, visit),
      errorPages: house.errorPages,
      failureHelp: FailureHelpView,
      modules: house.modules,
      styles: new Map(Object.entries(payload.styles)),
    },
    document: house.document,
    lang: house.lang,
    funnel: house.funnel,
    toLateError: toPageErrorOf(house, visit),
    nonce,
    preloads: preloadsOf(house.manifest, payload.routes),
    whole,
    deadlineMs: house.deadlineMs,
    onReady,
  });
}

/** A page for everyone must not keep the host that the one who happened to ask first wrote into the request. */
function toHost(house: PageHouse, visit: Visit): Pick<Engine, 'host' | 'hostRefusal'> {
  if (!(visit instanceof SharedVisit)) return { host: visit.info.host };
  const { host } = new URL(house.sharedOrigin);
  return house.hasOneHost ? { host } : { host, hostRefusal: HOST_REFUSAL };
}

function setDocumentHeaders(
  house: PageHouse,
  visit: Visit,
  response: ExpressResponse,
  payload: PagePayload,
  status: number,
  nonce: string,
): void {
  // A page with a nonce must not be kept for another answer: no ETag, and never a 304.
  const mayKeep = status < 400 && visit.method !== 'POST';
  setPageHeaders(response, house, mayKeep ? 'private, no-cache' : 'no-store');
  response.statusCode = status;
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.setHeader('Content-Security-Policy', house.policy.forNonce(nonce));
  response.setHeader('Content-Security-Policy-Report-Only', house.policy.reportOnly());
  response.setHeader('X-Accel-Buffering', 'no');
  const digest = Object.values(payload.errors ?? {}).find((error) => error.digest)?.digest;
  if (digest) {
    visit.info.digest = digest;
    response.setHeader('X-Error-Digest', digest);
  }
}

export interface WriteWatcher {
  /** Called with each line of the page's data as it is written. */
  onLine(line: string): void;
  /** Called once, when the page was written or given up. */
  onEnd(): void;
}

/**
 * Pipes a rendered page with its payload into a target.
 *
 * @param nonce absent for a page that is kept, which starts by the hashed boot script instead
 */
export function writeDocument(
  house: PageHouse,
  visit: Visit,
  page: EncodedPage,
  rendered: RenderedPage,
  target: PageTarget,
  nonce?: string,
  watcher?: WriteWatcher,
): void {
  // A render that failed shows another state than the loaders left.
  const isAsLoaded = rendered.payload === page.payload;
  const { head, late } = isAsLoaded ? page.encoded : encode(rendered.payload, toEncodeOptions(house, visit));
  watcher?.onLine(head);
  const mayKeep = !late && !rendered.payload.errors;
  const etag = mayKeep ? ` data-etag="${escapeHtml(toEtag(house.manifest, page.loaded.version ?? head))}"` : '';
  const sink = new PageSink({
    target,
    lead: toEarlyScript(house, nonce) + (nonce === undefined ? '' : toTraceMeta(visit.info.trace)),
    tail:
      `<script type="application/json" id="${PAYLOAD_ID}"${etag}>${toScriptText(head)}</script>` +
      entryScripts(house, nonce),
    late: late && watcher ? watchLines(late, watcher) : late,
    whenStreaming: nonce === undefined || visit.whole ? undefined : askForWhole(visit),
    onEnd() {
      rendered.settle();
      watcher?.onEnd();
    },
  });
  // React's interface asks for a Writable, and uses what PageSink has of one.
  rendered.pipe(sink as unknown as NodeJS.WritableStream, (markup) => sink.inject(markup));
}

async function* watchLines(late: AsyncIterable<string>, watcher: WriteWatcher): AsyncGenerator<string, void> {
  for await (const line of late) {
    watcher.onLine(line);
    yield line;
  }
}

/**
 * Late content takes its place by script. A visitor without scripts is sent to the same page, whole:
 * `<noscript>` is read by them alone.
 */
function askForWhole({ path, search }: Visit): string {
  const url = `${path}${search ? `${search}&` : '?'}${WHOLE_KEY}=1`;
  return `<noscript><meta http-equiv="refresh" content="0;url=${escapeHtml(url)}"></noscript>`;
}

function toEarlyScript({ policy }: PageHouse, nonce: string | undefined): string {
  if (policy.earlyScript === '') return '';
  return `<script${nonce === undefined ? '' : ` nonce="${nonce}"`}>${policy.earlyScript}</script>`;
}

/** So that the browser goes on with the trace of the request that brought its document (F8); a kept page carries nobody's. */
function toTraceMeta({ traceId, parentId, sampled }: Trace): string {
  const spanId = drawRandom(8, 'hex');
  // Nothing is recorded here: of a trace that begins here nobody has decided whether it is sampled.
  const [decision, entry] = parentId === undefined ? ['', ''] : [`-${sampled ? 1 : 0}`, `,sentry-sampled=${sampled}`];
  return (
    `<meta name="sentry-trace" content="${traceId}-${spanId}${decision}"/>` +
    `<meta name="baggage" content="sentry-trace_id=${traceId}${entry}"/>`
  );
}

function entryScripts(house: PageHouse, nonce: string | undefined): string {
  const { script } = house.manifest.entry;
  if (!script.startsWith(ASSET_PREFIX))
    throw new Error(`The manifest names an entry outside ${ASSET_PREFIX}: build again.`);
  if (nonce !== undefined) return `<script type="module" async nonce="${nonce}" src="${script}"></script>`;
  return (
    `<script type="application/json" id="${BOOT_ID}">${toScriptText(JSON.stringify([script]))}</script>` +
    `<script>${house.policy.bootScript}</script>`
  );
}
