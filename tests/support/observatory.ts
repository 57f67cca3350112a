/** A response as the Observatory sees it. */
export interface ScoredReply {
  /** By lowercase name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies?: readonly string[];
  readonly body?: string;
}

/** A rule that was met or broken, and its points. */
export interface Modifier {
  readonly rule: string;
  readonly points: number;
}

export interface Score {
  readonly score: number;
  readonly modifiers: readonly Modifier[];
}

type Policy = ReadonlyMap<string, ReadonlySet<string>>;

const BASE = 100;
/** The score from which bonuses count. */
const BONUS_FROM = 90;
const HALF_A_YEAR = 15_768_000;

const BROAD = ['*', 'http:', 'https:', 'ftp:', 'http://*', 'https://*', 'http://*.*', 'https://*.*'];
const ANY: ReadonlySet<string> = new Set(['*']);
const PASSIVE = ['img-src', 'media-src'];

/**
 * Returns the score that Mozilla's HTTP Observatory would give an HTTPS site with this response, by its published
 * rules (developer.mozilla.org/en-US/observatory/docs/tests_and_scoring, as of 2026): 100 points, minus penalties,
 * plus bonuses if at least 90 are left. Redirects from HTTP are left out, because the proxy does them.
 */
export function scoreReply(reply: ScoredReply): Score {
  const policy = parsePolicy(reply.headers['content-security-policy']);
  const modifiers = [
    judgePolicy(policy),
    judgeCookies(reply),
    judgeSharing(reply.headers['access-control-allow-origin']),
    judgeTransport(reply.headers['strict-transport-security']),
    judgeReferrer(reply.headers['referrer-policy']),
    judgeScripts(reply),
    judgeSniffing(reply.headers['x-content-type-options']),
    judgeFraming(policy, reply.headers['x-frame-options']),
    judgeResource(reply.headers['cross-origin-resource-policy']),
  ];
  const sum = (of: readonly Modifier[]) => of.reduce((total, { points }) => total + points, 0);
  const less = BASE + sum(modifiers.filter(({ points }) => points < 0));
  const more = less >= BONUS_FROM ? sum(modifiers.filter(({ points }) => points > 0)) : 0;
  return { score: Math.max(0, less + more), modifiers };
}

function parsePolicy(text: string | undefined): Policy | undefined {
  if (text === undefined) return undefined;
  const directives = text
    .split(';')
    .map((directive) => directive.trim().split(/\s+/))
    .filter(([name]) => name);
  return new Map(directives.map(([name = '', ...sources]) => [name.toLowerCase(), new Set(sources)]));
}

function judgePolicy(policy: Policy | undefined): Modifier {
  if (!policy) return { rule: 'csp-not-implemented', points: -25 };
  const of = (name: string) => policy.get(name) ?? policy.get('default-src') ?? ANY;
  const script = toTrusted(of('script-src'));
  const style = toTrusted(of('style-src'));
  const hasNone = (sources: ReadonlySet<string>, unwanted: readonly string[]) => !unwanted.some((x) => sources.has(x));
  const isPlain = (source: string) => /^(?:http|ftp):/.test(source);
  const active = [...policy].filter(([name]) => !PASSIVE.includes(name) && name !== 'script-src');

  if (!hasNone(script, [...BROAD, "'unsafe-inline'", 'data:']) || !hasNone(of('object-src'), BROAD)) {
    return { rule: 'csp-implemented-with-unsafe-inline', points: -20 };
  }
  if ([...active.flatMap(([, sources]) => [...sources]), ...script].some(isPlain)) {
    return { rule: 'csp-implemented-with-insecure-scheme', points: -20 };
  }
  if (script.has("'unsafe-eval'") || style.has("'unsafe-eval'")) {
    return { rule: 'csp-implemented-with-unsafe-eval', points: -10 };
  }
  if (PASSIVE.some((name) => [...of(name)].some(isPlain))) {
    return { rule: 'csp-implemented-with-insecure-scheme-in-passive-content-only', points: -10 };
  }
  if (!hasNone(style, [...BROAD, "'unsafe-inline'", 'data:'])) {
    return { rule: 'csp-implemented-with-unsafe-inline-in-style-src-only', points: 0 };
  }
  const fallback = policy.get('default-src');
  if (fallback?.size === 1 && fallback.has("'none'")) {
    return { rule: 'csp-implemented-with-no-unsafe-default-src-none', points: 10 };
  }
  return { rule: 'csp-implemented-with-no-unsafe', points: 5 };
}

/** Browsers that support nonces and hashes ignore the fallback sources for those that do not. */
function toTrusted(sources: ReadonlySet<string>): ReadonlySet<string> {
  const hasMark = [...sources].some((source) => /^'(?:nonce|sha256|sha384|sha512)-/.test(source));
  const isDynamic = hasMark && sources.has("'strict-dynamic'");
  return new Set(
    [...sources].filter((source) => {
      if (source === "'unsafe-inline'") return !hasMark;
      return !isDynamic || !(source === "'self'" || BROAD.includes(source));
    }),
  );
}

function judgeCookies({ headers, cookies = [] }: ScoredReply): Modifier {
  if (cookies.length === 0) return { rule: 'cookies-not-found', points: 0 };
  const all = cookies.map((cookie) =>
    cookie
      .toLowerCase()
      .split(';')
      .map((part) => part.trim()),
  );
  const isSession = ([pair = '']: string[]) => /^[^=]*(?:sess|login|sid)/.test(pair);
  if (all.some((cookie) => isSession(cookie) && !cookie.includes('secure'))) {
    return { rule: 'cookies-session-without-secure-flag', points: headers['strict-transport-security'] ? -10 : -40 };
  }
  if (all.some((cookie) => isSession(cookie) && !cookie.includes('httponly'))) {
    return { rule: 'cookies-session-without-httponly-flag', points: -30 };
  }
  const sites = all.map((cookie) => cookie.find((part) => part.startsWith('samesite')));
  if (sites.some((site) => site !== undefined && !/^samesite=(?:lax|strict)$/.test(site))) {
    return { rule: 'cookies-samesite-flag-invalid', points: -20 };
  }
  if (all.some((cookie) => !cookie.includes('secure'))) {
    return { rule: 'cookies-without-secure-flag', points: headers['strict-transport-security'] ? -5 : -20 };
  }
  return sites.includes(undefined)
    ? { rule: 'cookies-secure-with-httponly-sessions', points: 0 }
    : { rule: 'cookies-secure-with-httponly-sessions-and-samesite', points: 5 };
}

function judgeSharing(allowed: string | undefined): Modifier {
  const rule = 'cross-origin-resource-sharing';
  if (allowed === '*') return { rule: `${rule}-implemented-with-public-access`, points: 0 };
  return { rule: `${rule}-${allowed ? 'implemented-with-restricted-access' : 'not-implemented'}`, points: 0 };
}

function judgeTransport(header: string | undefined): Modifier {
  const age = /^\s*max-age=(\d+)\s*(?:;|$)/i.exec(header ?? '')?.[1];
  if (age === undefined) return { rule: 'hsts-not-implemented', points: -20 };
  if (Number(age) < HALF_A_YEAR) return { rule: 'hsts-implemented-max-age-less-than-six-months', points: -10 };
  return { rule: 'hsts-implemented-max-age-at-least-six-months', points: 0 };
}

function judgeReferrer(header: string | undefined): Modifier {
  if (header === undefined) return { rule: 'referrer-policy-not-implemented', points: 0 };
  const last = header.split(',').at(-1)?.trim().toLowerCase() ?? '';
  if (['no-referrer', 'same-origin', 'strict-origin', 'strict-origin-when-cross-origin'].includes(last)) {
    return { rule: 'referrer-policy-private', points: 5 };
  }
  const isKnown = ['origin', 'origin-when-cross-origin', 'unsafe-url', 'no-referrer-when-downgrade'].includes(last);
  return { rule: isKnown ? 'referrer-policy-unsafe' : 'referrer-policy-header-invalid', points: -5 };
}

function judgeScripts({ body = '' }: ScoredReply): Modifier {
  const sources = [...body.matchAll(/<script\b[^>]*\bsrc="([^"]*)"[^>]*>/gi)];
  const foreign = sources.filter(([, source = '']) => /^(?:https?:)?\/\//i.test(source));
  const unsealed = foreign.filter(([tag]) => !/\bintegrity=/i.test(tag));
  if (sources.length === 0) return { rule: 'sri-not-implemented-but-no-scripts-loaded', points: 0 };
  if (foreign.length === 0) {
    return { rule: 'sri-not-implemented-but-all-scripts-loaded-from-secure-origin', points: 0 };
  }
  if (foreign.some(([, source = '']) => /^http:/i.test(source))) {
    return { rule: 'sri-not-implemented-and-external-scripts-not-loaded-securely', points: -50 };
  }
  return unsealed.length > 0
    ? { rule: 'sri-not-implemented-but-external-scripts-loaded-securely', points: -5 }
    : { rule: 'sri-implemented-and-external-scripts-loaded-securely', points: 5 };
}

function judgeSniffing(header: string | undefined): Modifier {
  if (header?.trim().toLowerCase() === 'nosniff') return { rule: 'x-content-type-options-nosniff', points: 0 };
  return { rule: `x-content-type-options-${header === undefined ? 'not-implemented' : 'header-invalid'}`, points: -5 };
}

function judgeFraming(policy: Policy | undefined, header: string | undefined): Modifier {
  const ancestors = policy?.get('frame-ancestors');
  if (ancestors && !BROAD.some((source) => ancestors.has(source))) {
    return { rule: 'x-frame-options-implemented-via-csp', points: 5 };
  }
  if (/^\s*(?:deny|sameorigin)\s*$/i.test(header ?? '')) {
    return { rule: 'x-frame-options-sameorigin-or-deny', points: 0 };
  }
  return { rule: `x-frame-options-${header === undefined ? 'not-implemented' : 'header-invalid'}`, points: -20 };
}

function judgeResource(header: string | undefined): Modifier {
  const value = header?.trim().toLowerCase();
  if (value === 'same-origin' || value === 'same-site') return { rule: `corp-implemented-with-${value}`, points: 10 };
  if (value === 'cross-origin') return { rule: 'corp-implemented-with-cross-origin', points: 0 };
  return value === undefined
    ? { rule: 'corp-not-implemented', points: 0 }
    : { rule: 'corp-header-invalid', points: -5 };
}
