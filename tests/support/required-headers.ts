/** Headers that every response must have, including those to requests that Node's parser rejects. */
export const REQUIRED_HEADERS = [
  'cache-control',
  'content-security-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'permissions-policy',
  'referrer-policy',
  'x-content-type-options',
  'x-frame-options',
] as const;

/** Headers that every response under `/api` must have. */
const OF_API = [
  'cache-control',
  'content-security-policy',
  'cross-origin-resource-policy',
  'x-content-type-options',
] as const;

/** @param request begins with a request line */
export function requiredHeaders(request: string): readonly string[] {
  return /^[A-Z-]+ \/api\//m.test(request) ? OF_API : REQUIRED_HEADERS;
}
