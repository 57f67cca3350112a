import { readProperty } from '../../shared/reporting/read-property.ts';
import { ASSET_PREFIX } from '../../shared/wire/protocol.ts';
import { isBundle } from '../errors/digest/location-table.ts';
import type { ErrorRecord, Failure, RequestRecord } from '../errors/failure.ts';

/** Why an error is not reported: the label `reason` of `spillway_reports_ignored_total`. */
type IgnoredReason =
  /** Thrown on purpose: a redirect, not found, forbidden, unauthorized, a public error. */
  | 'outcome'
  /** A transaction of a page that does not exist. */
  | 'not-found'
  /** The browser postponed notifications to the next frame. Nothing failed. */
  | 'resize-observer'
  /** Code of a browser extension. */
  | 'extension'
  /** Code that an app injects into the pages that it shows, such as Facebook, Instagram and Chrome on iOS. */
  | 'in-app-browser'
  /** Mail scanners that open each link. */
  | 'scanner'
  /** A video or audio that was paused before it started. */
  | 'media'
  /** A request that the visitor cancelled by leaving a page before it was ready. */
  | 'leaving';

/** The part of a failure that is checked. */
export type Seen = Pick<Failure, 'errors'> & { readonly request?: Pick<RequestRecord, 'url'> | undefined };

const EXTENSION_SCHEME =
  /^(?:chrome|moz|safari|safari-web|ms-browser|edge|opera)-extension:\/\/|^webkit-masked-url:\/\/|^user-?script:/i;

/** Errors of extensions that are updated or removed while a page is open. */
const EXTENSION_MESSAGE =
  /(?:chrome|moz|safari|safari-web)-extension:\/\/|Extension context invalidated|Receiving end does not exist|message (?:port|channel) (?:is )?closed before a response|runtime\.sendMessage/i;

/** Globals and bridges of apps: Facebook's autofill, Chrome and Firefox on iOS, Android's Java bridge, Baidu, Zalo, an iPad video app. */
const IN_APP_MESSAGE =
  /_AutofillCallbackHandler|__gCrWeb|__firefox__|webkit\.messageHandlers|Java (?:object is gone|bridge method invocation error)|instantSearchSDKJSBridge|zaloJSV2|ceCurrentVideo|FBNavUtils|_pcmBridgeCallbackHandler/;

const SCANNER_MESSAGE = /Object Not Found Matching Id:\s*\d+/;
const RESIZE_MESSAGE =
  /^(?:Uncaught )?(?:Error: )?ResizeObserver loop (?:limit exceeded|completed with undelivered notifications)/;
const MEDIA_MESSAGE = /^The play\(\) request was interrupted\b/;

/** What the document's first script makes of a request without a response. Reports of a ready page have more. */
const EARLY_MESSAGE = /^(?:Uncaught )?TypeError: (?:Failed to fetch|NetworkError [^:]*|Load failed)$/;

/**
 * Returns why a report is ignored, or undefined if it is a failure. An error with a frame of this site is never blamed on
 * foreign code. Errors that break a page for its visitor are never ignored, even if foreign code caused them: a
 * translated page whose nodes React cannot remove, a chunk that does not load, and `Script error.`, which is a separate
 * incident.
 */
export function ignoredReasonOf({ errors, request }: Seen): IgnoredReason | undefined {
  const [error] = errors;
  if (!error) return undefined;
  if (error.class === 'ControlFlowResponse') return 'outcome';
  if (RESIZE_MESSAGE.test(error.message)) return 'resize-observer';
  if (MEDIA_MESSAGE.test(error.message)) return 'media';
  if (error.class === 'Error' && EARLY_MESSAGE.test(error.message)) return 'leaving';
  return hasOwnFrame(errors, request?.url) ? undefined : foreignReasonOf(errors, error);
}

/**
 * Whether the payload of a `transaction` item is about a page that does not exist. Strangers can make up any number of
 * such names.
 */
export function isNotFoundTransaction(payload: unknown): boolean {
  const contexts = readProperty(payload, 'contexts');
  const trace = readProperty(contexts, 'trace');
  const statuses = [
    readProperty(readProperty(contexts, 'response'), 'status_code'),
    readProperty(readProperty(trace, 'data'), 'http.response.status_code'),
    readProperty(readProperty(payload, 'tags'), 'http.status_code'),
  ];
  return readProperty(trace, 'status') === 'not_found' || statuses.some((status) => status === 404 || status === '404');
}

function foreignReasonOf(errors: Seen['errors'], { message }: ErrorRecord): IgnoredReason | undefined {
  const isForeign = errors.some(({ frames }) => frames.some(({ file }) => EXTENSION_SCHEME.test(file)));
  if (isForeign || EXTENSION_MESSAGE.test(message)) return 'extension';
  if (IN_APP_MESSAGE.test(message)) return 'in-app-browser';
  return SCANNER_MESSAGE.test(message) ? 'scanner' : undefined;
}

function hasOwnFrame(errors: Seen['errors'], pageUrl = ''): boolean {
  const origin = /^https?:\/\/[^/?#]+/i.exec(pageUrl)?.[0];
  return errors.some(({ frames }) => {
    return frames.some(({ file }) => {
      return isBundle(file) || (origin !== undefined && file.startsWith(origin + ASSET_PREFIX));
    });
  });
}
