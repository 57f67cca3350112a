import { createHash } from 'node:crypto';
import { ASSET_PREFIX } from '../../shared/wire/protocol.ts';
import { WiringError } from '../errors/wiring-error.ts';
import { drawRandom } from '../request/draw-random.ts';

/** Sources that a product adds to the policy of every page, such as `{ connect: ['https://api.example'] }`. */
export interface ContentSources {
  /** With `'unsafe-inline'`, pages can have any inline styles, and the policy has no nonce or hash that would void it. */
  readonly style?: readonly string[];
  /**
   * Further sources of styles for static pages, which have no nonce: `["'unsafe-inline'"]` for component libraries. The
   * policy of a visitor's first page is that of all pages that follow without a document load.
   */
  readonly staticStyle?: readonly string[];
  readonly image?: readonly string[];
  readonly font?: readonly string[];
  readonly connect?: readonly string[];
  readonly media?: readonly string[];
  readonly frame?: readonly string[];
  /** Also where workers can load scripts from. */
  readonly worker?: readonly string[];
  /** Lets pages and workers compile WebAssembly. It does not allow `eval()`. */
  readonly webAssembly?: boolean;
  readonly form?: readonly string[];
  /** Sites that can show these pages in a frame. A cookie that their visitors need there is `SameSite=None`. */
  readonly framedBy?: readonly string[];
  /** The texts of constant inline scripts, which run in all pages by their hashes, without a nonce. */
  readonly inlineScript?: readonly string[];
  /** Names of further Trusted Types policies. */
  readonly trustedTypes?: readonly string[];
}

/** The `Content-Security-Policy` of pages. */
export type ContentPolicy = ReturnType<typeof createContentPolicy>;

/** The block with the URLs of the modules that `bootScript` inserts: `["/assets/main-X7K2.js"]`. */
export const BOOT_ID = 'spillway-boot';

/**
 * With `strict-dynamic`, neither an integrity attribute nor a hash lets a module load its imports, but a trusted script
 * can insert modules that do. So a cached page, which cannot have a nonce, starts with this classic inline script,
 * whose hash is in the policy. The Trusted Types policy `boot` keeps injected URLs out: it only accepts the site's own
 * assets.
 */
const BOOT_SCRIPT = [
  '(function(){var d=document,o=location.origin,',
  'p={createScriptURL:function(s){var u=new URL(s,o);',
  `if(u.origin!==o||u.pathname.indexOf(${JSON.stringify(ASSET_PREFIX)})!==0)`,
  'throw new TypeError("The boot script loads nothing but assets of this site.");return u.href}};',
  'if(self.trustedTypes)p=self.trustedTypes.createPolicy("boot",p);',
  `JSON.parse(d.getElementById(${JSON.stringify(BOOT_ID)}).textContent).forEach(function(s){`,
  'var e=d.createElement("script");e.type="module";e.async=true;e.src=p.createScriptURL(s);d.head.appendChild(e)',
  '})})()',
].join('');

interface ContentPolicyOptions {
  /**
   * The body of the first script of every page (`createEarlyScript()`). If it is left out, pages have no such script.
   */
  readonly earlyScript?: string;
  /**
   * The path to which browsers report violations. Only with `report-uri`: if there is also a `report-to`, which
   * requires HTTPS endpoints, Chromium uses neither.
   */
  readonly reportPath?: string;
  /** False if no page has a `style` attribute, which React renders for its `style` prop. */
  readonly styleAttributes: boolean;
}

const ANY_INLINE = "'unsafe-inline'";

/** Browsers ignore `'unsafe-inline'` beside a hash. A report has the start of a blocked style, which shows its library. */
function toStyles(sources: readonly string[]): string {
  const sent = sources.includes(ANY_INLINE) ? sources.filter((source) => !source.startsWith("'sha")) : sources;
  return directive('style-src', "'self' 'report-sample'", sent);
}

/** @throws WiringError with a sentence for sources that cannot work */
export function createContentPolicy(
  extra: ContentSources = {},
  { earlyScript = '', reportPath, styleAttributes }: ContentPolicyOptions,
) {
  requireKnown(extra);
  const report = reportPath === undefined ? [] : [`report-uri ${reportPath}`];
  const { style = [], staticStyle = [], inlineScript = [], worker = [] } = extra;
  const styles = toStyles(style);
  const hasStyleNonce = !style.includes(ANY_INLINE);
  const wasm = extra.webAssembly ? " 'wasm-unsafe-eval'" : '';
  const rest = [
    ...(styleAttributes ? ["style-src-attr 'unsafe-inline'"] : []),
    directive('img-src', "'self' data:", extra.image),
    directive('font-src', "'self'", extra.font),
    directive('connect-src', "'self'", extra.connect),
    "manifest-src 'self'",
    ...optional('media-src', extra.media),
    ...optional('frame-src', extra.frame),
    ...(worker.length > 0 ? [directive('worker-src', "'self'", worker)] : []),
    directive('form-action', "'self'", extra.form),
    "base-uri 'none'",
    "object-src 'none'",
    extra.framedBy ? directive('frame-ancestors', "'self'", extra.framedBy) : "frame-ancestors 'none'",
    ...report,
  ].join('; ');
  const ownHashes = inlineScript.map(toHashSource);
  const hashes = [...[earlyScript, BOOT_SCRIPT].filter(Boolean).map(toHashSource), ...ownHashes].join(' ');
  const staticStyles = toStyles([...style, ...staticStyle]);
  const staticPolicy = `default-src 'none'; script-src ${hashes} 'strict-dynamic'${wasm}; ${staticStyles}; ${rest}`;
  const scriptFilePolicy = [
    "default-src 'none'",
    directive('script-src', `'self'${wasm}`, worker),
    directive('connect-src', "'self'", extra.connect),
    "frame-ancestors 'none'",
    ...report,
  ].join('; ');
  const trustedTypes = directive('trusted-types', 'boot', extra.trustedTypes);
  const reportOnlyPolicy = ["require-trusted-types-for 'script'", trustedTypes, ...report].join('; ');

  return {
    /** For a page that is rendered for one request. It has no `ETag`: a 304 would change the nonce of the cached policy. */
    forNonce: (nonce: string) =>
      `default-src 'none'; script-src ${[`'nonce-${nonce}'`, ...ownHashes].join(' ')} 'strict-dynamic'${wasm}; ${styles}${hasStyleNonce ? ` 'nonce-${nonce}'` : ''}; ${rest}`,
    /** For a page that can be cached: constant, and only `earlyScript`, `bootScript` and `inlineScript` can run. */
    forStatic: () => staticPolicy,
    /** For a JavaScript file: a worker has the policy that its script is sent with, and not that of the page. */
    forScriptFiles: () => scriptFilePolicy,
    /** `Content-Security-Policy-Report-Only`: Trusted Types, for both kinds of page. */
    reportOnly: () => reportOnlyPolicy,
    /** Whether a form can lead to a site. Ports and paths are not compared. */
    leadsForms: (url: string) => (extra.form ?? []).some((source) => covers(source, new URL(url))),
    /** The body of the first script of every page, or the empty text. */
    earlyScript,
    /** The other inline script of a cached page, after the block `<script type="application/json" id={BOOT_ID}>`. */
    bootScript: BOOT_SCRIPT,
  };
}

function covers(source: string, { protocol, hostname }: URL): boolean {
  if (source.endsWith(':')) return source === protocol;
  const host = source.replace(/^[a-z]+:\/\//, '').replace(/[:/].*$/, '');
  return host.startsWith('*') ? hostname.endsWith(host.slice(1)) : hostname === host;
}

function toHashSource(script: string): string {
  return `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
}

const KINDS =
  'style staticStyle image font connect media frame worker webAssembly form framedBy inlineScript trustedTypes'.split(
    ' ',
  );

/** Checks what the compiler checks in `defineProduct()`. */
function requireKnown(extra: ContentSources): void {
  const unknown = Object.keys(extra).find((kind) => !KINDS.includes(kind));
  if (unknown === undefined) return;
  const advice = unknown.startsWith('script')
    ? 'Scripts of other hosts need no source: see docs/recipes/other-hosts.md. For your own inline scripts, use inlineScript.'
    : `Use one of these: ${KINDS.join(', ')}.`;
  throw new WiringError(`\`contentSources\` has no \`${unknown}\`. ${advice}`);
}

function directive(name: string, own: string, extra: readonly string[] = []): string {
  return [name, own, ...extra.map(toSource)].join(' ');
}

function optional(name: string, sources: readonly string[] | undefined): string[] {
  return sources?.length ? [[name, ...sources.map(toSource)].join(' ')] : [];
}

/** A `;`, a `,` or a space in a source would begin another directive, policy or source. */
function toSource(source: string): string {
  if (/^(?:unsafe-|nonce-|sha\d+-|self$|none$)/.test(source)) {
    throw new WiringError(
      `The content policy was given the source ${JSON.stringify(source)}, which browsers take for a host. Keep its quotation marks: ${JSON.stringify(`'${source}'`)}.`,
    );
  }
  if (/^[^\s;,]+$/.test(source)) return source;
  throw new WiringError(
    `The content policy was given the source ${JSON.stringify(source)}. Give each source as a string of its own, without blanks, commas or semicolons.`,
  );
}

/** 128 bits, as CSP recommends (https://www.w3.org/TR/CSP3/#security-nonces). */
const NONCE_BYTES = 16;

/** Returns a nonce for the scripts of one response. */
export function drawNonce(): string {
  return drawRandom(NONCE_BYTES, 'base64');
}
