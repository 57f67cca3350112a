/** What each reply must carry, whatever it is and whoever made it: Node's parser too. */
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
