import { expect, it } from 'vitest';
import { toProxySignIn } from '../../../../src/server/desk/access/proxy-operator.ts';

const settings = {
  authProxyHeader: 'x-forwarded-user',
  authProxySecret: 'a-secret-of-the-proxy',
  authProxyOperators: [],
  trustProxy: ['10.0.0.0/8'],
};

it('believes no header unless one is set', () => {
  expect(toProxySignIn({ ...settings, authProxyHeader: undefined, trustProxy: 1 })).toBeUndefined();
});

it.each([0, 1, 2])('refuses a header from whoever is %s hops away, by a sentence', (trustProxy) => {
  expect(() => toProxySignIn({ ...settings, trustProxy })).toThrow(
    /^The setting AUTH_PROXY_HEADER needs the addresses of the proxy/,
  );
});

it('refuses a header without a secret, by a sentence that says what to do', () => {
  const open = { ...settings, authProxySecret: undefined };
  expect(() => toProxySignIn(open)).toThrow(
    /^The setting AUTH_PROXY_HEADER needs AUTH_PROXY_SECRET, .* X-Auth-Proxy-Secret/,
  );
  // Both mistakes are named at once.
  expect(() => toProxySignIn({ ...open, trustProxy: 1 })).toThrow(/TRUST_PROXY.*\n.*AUTH_PROXY_SECRET/);
});

it('believes the addresses that are listed', () => {
  const trust = toProxySignIn(settings)?.trust;
  expect(trust?.('10.1.2.3', 0)).toBe(true);
  expect(trust?.('192.0.2.1', 0)).toBe(false);
});
