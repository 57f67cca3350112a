import { hash } from 'node:crypto';
import type { AssetManifest } from '../../../shared/wire/manifest.ts';
import type { ActionResult, PageError, PagePayload } from '../../../shared/wire/payload.ts';
import { type Encoded, type EncodeOptions, encode, WireError } from '../../../shared/wire/wire.ts';
import type { LoadedPage } from '../kept.ts';
import { type PageRequest, SharedPageRequest } from '../page-request.ts';
import type { PageExchange, PageServices } from '../page-response.ts';

/** A loaded page in the wire format. */
export interface EncodedPage {
  /** The loaded page, or the same with the failure of a loader whose data cannot be sent. */
  readonly loaded: LoadedPage;
  readonly payload: PagePayload;
  readonly encoded: Encoded;
}

type Encoding = Pick<PageExchange, 'services' | 'pageRequest'>;

interface ErrorSource {
  readonly services: Pick<PageServices, 'funnel'>;
  readonly pageRequest: PageRequest;
}

/**
 * Encodes a page before it is rendered. Data that cannot be sent, such as a function or a class instance, is a failure
 * of its loader.
 */
export function encodePage(
  encoding: Encoding,
  loaded: LoadedPage,
  action?: ActionResult,
  takeHole?: EncodeOptions['takeHole'],
): EncodedPage {
  const options = { ...toEncodeOptions(encoding), takeHole };
  const payload = createPayload(encoding, loaded, action);
  try {
    return { loaded, payload, encoded: encode(payload, options) };
  } catch (error) {
    const routeId = error instanceof WireError ? findUnsendable(loaded, options) : undefined;
    if (routeId === undefined) throw error;
    return encodePage(encoding, withFailure(encoding, loaded, { routeId, thrown: error }), action);
  }
}

export function toEncodeOptions(encoding: Encoding): EncodeOptions {
  return { toError: toPageErrorOf(encoding), onAbort: (listener) => encoding.pageRequest.onLateAbort(listener) };
}

/** Returns a function that turns the error of a deferred value into what the visitor sees. */
export function toPageErrorOf({ services, pageRequest }: ErrorSource): (error: unknown) => PageError {
  return function toPageError(error) {
    const disposition = services.funnel.fail(error, pageRequest.describe('late'));
    if (disposition.kind === 'error') return disposition.error;
    if (disposition.kind === 'redirect')
      return { kind: 'redirect', status: disposition.status, location: disposition.location };
    return { kind: 'failure', status: 500 };
  };
}

/** The status of the loaded page, or that of the action if the page loaded without an error. */
export function toStatus({ status }: LoadedPage, action: ActionResult | undefined): number {
  return action && status === 200 ? action.status : status;
}

function findUnsendable(loaded: LoadedPage, options: EncodeOptions): string | undefined {
  return Object.keys(loaded.data).find((id) => {
    try {
      encode(loaded.data[id], options);
      return false;
    } catch {
      return true;
    }
  });
}

/** Returns the page with a failure in place of a route. */
export function withFailure(
  { services, pageRequest }: Encoding,
  loaded: LoadedPage,
  { routeId, thrown }: { routeId: string; thrown: unknown },
): LoadedPage {
  const disposition = services.funnel.fail(thrown, pageRequest.describe('loader', routeId));
  const error: PageError = disposition.kind === 'error' ? disposition.error : { kind: 'failure', status: 500 };
  const { ids } = pageRequest.match;
  const data = Object.fromEntries(ids.slice(0, ids.indexOf(routeId)).map((id) => [id, loaded.data[id]]));
  return { kind: 'page', status: error.status, data, errors: { [routeId]: error } };
}

function createPayload({ services, pageRequest }: Encoding, loaded: LoadedPage, action?: ActionResult): PagePayload {
  const { manifest } = services;
  const { ids, params, mode } = pageRequest.match;
  return {
    build: manifest.buildId,
    routes: ids,
    params,
    data: loaded.data,
    ...(loaded.errors ? { errors: loaded.errors } : {}),
    ...(action ? { action } : {}),
    styles: stylesOf(manifest, ids),
    ...(mode === 'static' ? { static: true } : {}),
    ...(mode === 'shell' && pageRequest instanceof SharedPageRequest ? { shell: true } : {}),
  };
}

function stylesOf(manifest: AssetManifest, ids: readonly string[]): Record<string, readonly string[]> {
  const styles: Record<string, readonly string[]> = {};
  for (const id of ids) {
    const hrefs = manifest.routes[id]?.styles;
    if (hrefs?.length) styles[id] = hrefs;
  }
  return styles;
}

/** The modules that a page needs, for `modulepreload`: the entry, its imports, and those of each matched route. */
export function preloadsOf(manifest: AssetManifest, ids: readonly string[]): string[] {
  const urls = new Set([manifest.entry.script, ...manifest.entry.preloads]);
  for (const id of ids) {
    const assets = manifest.routes[id];
    if (!assets) continue;
    urls.add(assets.script);
    for (const url of assets.preloads) urls.add(url);
  }
  return [...urls];
}

/**
 * Returns the weak validator of page data: equal text means equal data. The text contains the build's id.
 *
 * @param text the encoded payload, or the combined version of its loaders
 */
export function toEtag(manifest: AssetManifest, text: string): string {
  return `W/"${manifest.buildId}-${hash('sha1', text, 'base64url')}"`;
}
