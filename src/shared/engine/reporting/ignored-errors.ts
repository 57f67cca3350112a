/** Why something is not reported (F9): the label `reason` of `spillway_reports_ignored_total`. */
export type NoiseReason =
  /** Thrown on purpose: a redirect, not found, forbidden, unauthorized, a public error. */
  | 'outcome'
  /** A transaction of a page that does not exist. */
  | 'not-found'
  /** The browser put off a notification to the next frame; nothing failed. */
  | 'resize-observer'
  /** Code of a browser's extension. */
  | 'extension'
  /** Code that an app puts into the pages that it shows, such as those of Facebook, Instagram and Chrome on iOS. */
  | 'in-app-browser'
  /** Mail scanners that open each link. */
  | 'scanner'
  /** A film or a sound that was paused before it began. */
  | 'media'
  /** A copy of the page on somebody's disk. */
  | 'saved-page';

/** What is looked at of an error: `ErrorRecord` fits, and so does what a browser knows before any digest. */
export interface SeenError {
  readonly class: string;
  readonly message: string;
  /** From the throw outwards: `client/assets/home-X7K2QM2X.js`, or an address. */
  readonly frames: readonly { readonly file: string }[];
}

export interface SeenReport {
  /** Outermost first. */
  readonly errors: readonly SeenError[];
  /** The address of the page, where a browser reports. */
  readonly pageUrl?: string;
}

const EXTENSION_SCHEME =
  /^(?:chrome|moz|safari|safari-web|ms-browser|edge|opera)-extension:\/\/|^webkit-masked-url:\/\/|^user-?script:/i;

/** What extensions' own messaging says when they are updated or removed under an open page. */
const EXTENSION_MESSAGE =
  /(?:chrome|moz|safari|safari-web)-extension:\/\/|Extension context invalidated|Receiving end does not exist|message (?:port|channel) (?:is )?closed before a response|runtime\.sendMessage/i;

/** Globals and bridges of apps: Facebook's autofill, Chrome and Firefox on iOS, Android's Java bridge, Baidu, Zalo, an iPad video app. */
const IN_APP_MESSAGE =
  /_AutofillCallbackHandler|__gCrWeb|__firefox__|webkit\.messageHandlers|Java (?:object is gone|bridge method invocation error)|instantSearchSDKJSBridge|zaloJSV2|ceCurrentVideo|FBNavUtils|_pcmBridgeCallbackHandler/;

const SCANNER_MESSAGE = /Object Not Found Matching Id:\s*\d+/;
const RESIZE_MESSAGE =
  /^(?:Uncaught )?(?:Error: )?ResizeObserver loop (?:limit exceeded|completed with undelivered notifications)/;
const MEDIA_MESSAGE = /^The play\(\) request was interrupted\b/;

/**
 * Why a report is noise; undefined where it is a failure. What has a frame of this site is never
 * blamed on somebody else's code, and what breaks a page for its visitor is never noise, whoever
 * caused it: a translated page whose nodes React cannot remove, a chunk that does not load, and
 * `Script error.`, which is an incident of its own.
 */
export function noiseOf(report: SeenReport): NoiseReason | undefined {
  const error = report.errors[0];
  if (!error) return undefined;
  // Open tabs of version 0.1.0 report the second name.
  if (error.class === 'ControlFlowResponse' || error.class === 'Outcome') return 'outcome';
  if (report.pageUrl !== undefined && /^(?:file|content|blob|data):/i.test(report.pageUrl)) return 'saved-page';
  if (RESIZE_MESSAGE.test(error.message)) return 'resize-observer';
  if (MEDIA_MESSAGE.test(error.message)) return 'media';
  return hasOwnFrame(report) ? undefined : foreignNoiseOf(report, error);
}

/**
 * Whether the payload of a `transaction` item tells of a page that does not exist. Such names are as
 * many as strangers can make up.
 */
export function isNotFoundTransaction(payload: unknown): boolean {
  const contexts = field(payload, 'contexts');
  const trace = field(contexts, 'trace');
  const statuses = [
    field(field(contexts, 'response'), 'status_code'),
    field(field(trace, 'data'), 'http.response.status_code'),
    field(field(payload, 'tags'), 'http.status_code'),
  ];
  return field(trace, 'status') === 'not_found' || statuses.some((status) => Number(status) === 404);
}

function foreignNoiseOf(report: SeenReport, { message }: SeenError): NoiseReason | undefined {
  const isForeign = report.errors.some(({ frames }) => frames.some(({ file }) => EXTENSION_SCHEME.test(file)));
  if (isForeign || EXTENSION_MESSAGE.test(message)) return 'extension';
  if (IN_APP_MESSAGE.test(message)) return 'in-app-browser';
  return SCANNER_MESSAGE.test(message) ? 'scanner' : undefined;
}

function hasOwnFrame({ errors, pageUrl = '' }: SeenReport): boolean {
  const origin = /^https?:\/\/[^/?#]+/i.exec(pageUrl)?.[0];
  return errors.some(({ frames }) => {
    return frames.some(({ file }) => {
      return /^(?:client|server)\//.test(file) || (origin !== undefined && file.startsWith(`${origin}/assets/`));
    });
  });
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}
