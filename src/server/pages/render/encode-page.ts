import { hash } from 'node:crypto';
import { type Encoded, type EncodeOptions, encode } from '../../../shared/wire/encode.ts';
import { WireError } from '../../../shared/wire/format.ts';
import type { AssetManifest } from '../../../shared/wire/manifest.ts';
import type { ActionResult, PageError, PagePayload } from '../../../shared/wire/payload.ts';
import type { LoadedPage } from '../load-page.ts';
import type { PageRequest } from '../page-request.ts';
import type { PageRuntime } from '../page-runtime.ts';
import type { PageTable } from '../server-page.ts';

/** A loaded page in the wire format. */
export interface EncodedPage {
  /** The loaded page, or the same with the failure of a loader whose data cannot be sent. */
  readonly loaded: LoadedPage;
  readonly payload: PagePayload;
  readonly encoded: Encoded;
}

export interface Encoding {
  readonly runtime: PageRuntime;
  readonly pageRequest: PageRequest;
}

/**
 * Encodes a page before it is rendered. Data that cannot be sent, such as a function or a class instance, is a failure
 * of its loader or action.
 *
 * @param takeHole only for a shell
 */
export function encodePage(
  encoding: Encoding,
  loaded: LoadedPage,
  action?: ActionResult,
  takeHole?: EncodeOptions['takeHole'],
): EncodedPage {
  const { pageRequest } = encoding;
  const options = toEncodeOptions(pageRequest, takeHole);
  const payload = createPayload(encoding, loaded, action, takeHole !== undefined);
  try {
    return { loaded, payload, encoded: encode(payload, options) };
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    const routeId = findUnsendable(loaded, options);
    if (routeId !== undefined) {
      return encodePage(encoding, withFailure(pageRequest, loaded, { routeId, thrown: error }), action);
    }
    if (!action) throw error;
    const failed = { routeId: action.action.slice(0, action.action.lastIndexOf('.')), thrown: error };
    return encodePage(encoding, withFailure(pageRequest, loaded, failed, 'action'));
  }
}

export function toEncodeOptions(pageRequest: PageRequest, takeHole?: EncodeOptions['takeHole']): EncodeOptions {
  return {
    toError: toPageErrorOf(pageRequest),
    onAbort: (listener) => pageRequest.onDeferredAbort(listener),
    takeHole,
  };
}

/** Returns a function that turns the error of a deferred value into what the visitor sees. */
export function toPageErrorOf(pageRequest: PageRequest): (error: unknown) => PageError {
  return function toPageError(error) {
    const disposition = pageRequest.fail(error, 'late');
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
  pageRequest: PageRequest,
  loaded: LoadedPage,
  { routeId, thrown }: { routeId: string; thrown: unknown },
  origin: 'loader' | 'action' = 'loader',
): LoadedPage {
  const disposition = pageRequest.fail(thrown, origin, { routeId });
  const error: PageError = disposition.kind === 'error' ? disposition.error : { kind: 'failure', status: 500 };
  const { ids } = pageRequest.match;
  const data = Object.fromEntries(ids.slice(0, ids.indexOf(routeId)).map((id) => [id, loaded.data[id]]));
  return { kind: 'page', status: error.status, data, errors: { [routeId]: error } };
}

function createPayload(
  { runtime, pageRequest }: Encoding,
  loaded: LoadedPage,
  action: ActionResult | undefined,
  isShell: boolean,
): PagePayload {
  const { manifest } = runtime.server;
  const { ids, params, mode } = pageRequest.match;
  const uploads = listUploads(runtime.app.pages, ids);
  return {
    build: manifest.buildId,
    routes: ids,
    params,
    data: loaded.data,
    ...(loaded.errors ? { errors: loaded.errors } : {}),
    ...(action ? { action } : {}),
    ...(uploads.length > 0 ? { uploads: Object.fromEntries(uploads) } : {}),
    styles: stylesOf(manifest, ids),
    ...(mode === 'static' ? { static: true } : {}),
    ...(isShell ? { shell: true } : {}),
  };
}

/** Returns the limits (bytes) of the actions of these routes that have one, by `<route id>.<name>`. */
export function listUploads(pages: PageTable<never>, ids: readonly string[]): [string, number][] {
  return ids.flatMap((id) =>
    Object.entries(pages[id]?.actions ?? {}).flatMap(([name, action]): [string, number][] =>
      typeof action === 'function' ? [] : [[`${id}.${name}`, action.maxBytes]],
    ),
  );
}

function stylesOf(manifest: AssetManifest, ids: readonly string[]): Record<string, readonly string[]> {
  const styles: Record<string, readonly string[]> = {};
  for (const id of ids) {
    const hrefs = manifest.routes[id]?.styles;
    if (hrefs?.length) styles[id] = hrefs;
  }
  return styles;
}

/**
 * Returns the weak validator of page data: equal text means equal data. The text contains the build's id.
 *
 * @param text the encoded payload, or the combined version of its loaders
 */
export function toEtag(manifest: AssetManifest, text: string): string {
  return `W/"${manifest.buildId}-${hash('sha1', text, 'base64url')}"`;
}
