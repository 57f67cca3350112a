/**
 * Outcomes that a page may end with on purpose. They are thrown, from a loader, an action, a guard
 * or a component, and are never failures: nothing is reported and no digest is made.
 */
export type OutcomeKind = 'redirect' | 'not-found' | 'forbidden' | 'unauthorized' | 'public';

const OUTCOME = Symbol.for('spillway.outcome');

export class Outcome extends Error {
  readonly [OUTCOME] = true;
  readonly kind: OutcomeKind;
  /** The HTTP status that the answer gets when nothing was flushed yet. */
  readonly status: number;
  /** Where a redirect leads; empty for the others. */
  readonly location: string;

  constructor(kind: OutcomeKind, status: number, message: string, location = '') {
    super(message);
    this.name = 'Outcome';
    this.kind = kind;
    this.status = status;
    this.location = location;
  }
}

/** Works across bundles and realms, where `instanceof` does not. Never throws, whatever is handed in. */
export function isOutcome(value: unknown): value is Outcome {
  try {
    return typeof value === 'object' && value !== null && OUTCOME in value;
  } catch {
    return false; // a hostile Proxy
  }
}

export type RedirectStatus = 301 | 302 | 303 | 307 | 308;

/**
 * Ends the loader, action or render by sending the visitor elsewhere.
 *
 * @param to a path on this site (`/orders?page=2`); another site needs `{ external: true }`
 * @throws TypeError where `to` could lead off the site without that mark (`//evil.example`, `/\evil`, `javascript:`)
 */
export function redirect(to: string, options: { status?: RedirectStatus; external?: boolean } = {}): never {
  const location = options.external ? toExternalLocation(to) : toLocalLocation(to);
  throw new Outcome('redirect', options.status ?? 303, 'redirect', location);
}

/** Ends the loader, action or render with 404 and the page for it. */
export function notFound(): never {
  throw new Outcome('not-found', 404, 'Not found');
}

/** Ends it with 403: the visitor may not see it, whoever they are. */
export function forbidden(): never {
  throw new Outcome('forbidden', 403, 'Forbidden');
}

/** Ends it with 401: the visitor has to sign in first. */
export function unauthorized(): never {
  throw new Outcome('unauthorized', 401, 'Unauthorized');
}

/**
 * Ends the request with words that the visitor may read. Everything else that is thrown is shown as
 * a digest alone.
 *
 * @param status 400 to 599
 */
export function publicError(status: number, message: string): never {
  throw new Outcome('public', status, message);
}

const LOCAL_BASE = 'http://local.invalid';

/**
 * The one guard for every `Location` that leaves the server. Browsers drop tabs and line breaks and
 * read `\` as `/`, so the text is judged as they will read it: resolved against a base that nothing
 * legitimate can leave.
 */
export function toLocalLocation(to: string): string {
  const url = parseUrl(to, LOCAL_BASE);
  if (to.startsWith('/') && url?.origin === LOCAL_BASE && !/^\/[/\\]/.test(stripControls(to))) {
    const location = url.pathname + url.search + url.hash;
    // Resolving takes dot segments out, and what is left of `/.//evil.example` names another host.
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
