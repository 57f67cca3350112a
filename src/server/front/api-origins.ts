import { sendAllowed } from '../errors/problem.ts';
import { addVary } from '../request/request-headers.ts';
import { requestInfo } from '../request/request-info.ts';
import { ALL_METHODS, type Step } from '../request/step.ts';

/**
 * Other origins whose scripts can call the API, such as `https://app.example.com`, or `capacitor://localhost` for an app
 * in a web view; `'*'` for every origin.
 */
export type ApiOrigins = readonly string[] | '*';

/** How long a browser can cache the answer to a preflight (s). Chromium's maximum is 2 hours. */
const PREFLIGHT_AGE = 7200;

/**
 * Lets scripts of other origins call the API (CORS) without cookies: they authenticate with a token. Answers
 * preflights.
 */
export function apiOrigins(allowed: ApiOrigins, covers: (path: string) => boolean): Step {
  return function apiOrigins(req, res, next) {
    const { origin } = req.headers;
    if (!covers(requestInfo(req).path)) return next();
    // Also without `Origin`: a cache would answer a script of another origin with that response.
    if (allowed !== '*') addVary(res, 'Origin');
    if (origin === undefined || (allowed !== '*' && !allowed.includes(origin))) return next();
    res.setHeader('Access-Control-Allow-Origin', allowed === '*' ? '*' : origin);
    res.setHeader('Access-Control-Expose-Headers', '*');
    if (req.method !== 'OPTIONS' || req.headers['access-control-request-method'] === undefined) return next();
    res.setHeader('Access-Control-Allow-Methods', ALL_METHODS);
    const headers = req.headers['access-control-request-headers'];
    if (headers !== undefined) res.setHeader('Access-Control-Allow-Headers', headers);
    res.setHeader('Access-Control-Max-Age', PREFLIGHT_AGE);
    sendAllowed(res, ALL_METHODS);
  };
}

/** Apps in a web view have their own schemes, and for `URL` the origin of those is `null`. */
export function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin } = new URL(text);
  return origin === text || (origin === 'null' && /^[a-z][a-z\d+.-]*:\/\/[^/?#@\s]+$/.test(text));
}
