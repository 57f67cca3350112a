import type { PageErrorKind } from '../wire/payload.ts';

/**
 * Responses that a loader, an action, a guard or a component ends with by throwing them. They are not failures: nothing
 * is reported, and there is no digest.
 */
type ControlFlowKind = Exclude<PageErrorKind, 'failure'>;

const CONTROL_FLOW = Symbol.for('spillway.control-flow');

export class ControlFlowResponse extends Error {
  readonly [CONTROL_FLOW] = true;
  readonly kind: ControlFlowKind;
  /** The HTTP status, if nothing was sent yet. */
  readonly status: number;
  /** The target of a redirect; empty for the others. */
  readonly location: string;

  constructor(kind: ControlFlowKind, status: number, message: string, location = '') {
    super(message);
    this.name = 'ControlFlowResponse';
    this.kind = kind;
    this.status = status;
    this.location = location;
  }
}

/** Works across bundles and realms, where `instanceof` does not. Never throws. */
export function isControlFlow(value: unknown): value is ControlFlowResponse {
  try {
    return typeof value === 'object' && value !== null && CONTROL_FLOW in value;
  } catch {
    return false; // a hostile Proxy
  }
}

type RedirectStatus = 301 | 302 | 303 | 307 | 308;

/**
 * Ends the loader, action or render with a redirect.
 *
 * @param to a path on this site (`/orders?page=2`); another site needs `{ external: true }`
 * @throws TypeError if `to` could lead to another site without that option (`//evil.example`, `/\evil`, `javascript:`)
 */
export function redirect(to: string, options: { status?: RedirectStatus; external?: boolean } = {}): never {
  const location = options.external ? toExternalLocation(to) : toLocalLocation(to);
  throw new ControlFlowResponse('redirect', options.status ?? 303, 'redirect', location);
}

/** Ends the loader, action or render with the 404 page. */
export function notFound(): never {
  throw new ControlFlowResponse('not-found', 404, 'Not found');
}

/** Ends it with the 403 page: the visitor has no access. */
export function forbidden(): never {
  throw new ControlFlowResponse('forbidden', 403, 'Forbidden');
}

/** Ends it with the 401 page: the visitor has to sign in first. */
export function unauthorized(): never {
  throw new ControlFlowResponse('unauthorized', 401, 'Unauthorized');
}

/**
 * Ends the request with a message for the visitor. Of any other thrown error, the visitor only sees the address.
 *
 * @param status 400 to 599
 */
export function publicError(status: number, message: string): never {
  throw new ControlFlowResponse('public', status, message);
}

const LOCAL_BASE = 'http://local.invalid';

/**
 * Checks every `Location` that the server sends. Browsers drop tabs and line breaks and read `\` as `/`, so the text is
 * resolved as they do, against a base that no valid path can leave.
 */
export function toLocalLocation(to: string): string {
  const url = parseUrl(to, LOCAL_BASE);
  if (to.startsWith('/') && url?.origin === LOCAL_BASE && !/^\/[/\\]/.test(stripControls(to))) {
    const location = url.pathname + url.search + url.hash;
    // Resolving removes dot segments, and the rest of `/.//evil.example` would name another host.
    if (!location.startsWith('//')) return location;
  }
  throw new TypeError(
    `redirect() was given ${JSON.stringify(to.slice(0, 100))}, which is no path on this site. Start it with one "/", or pass { external: true } for another site.`,
  );
}

function toExternalLocation(to: string): string {
  const url = parseUrl(to);
  if (url && (url.protocol === 'https:' || url.protocol === 'http:')) return url.href;
  throw new TypeError(
    `redirect() with { external: true } needs a whole http(s) URL, not ${JSON.stringify(to.slice(0, 100))}.`,
  );
}

function parseUrl(text: string, base?: string): URL | undefined {
  return URL.canParse(text, base) ? new URL(text, base) : undefined;
}

function stripControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what browsers drop from URLs
  return text.replace(/[\u0000-\u0020]/g, '');
}
