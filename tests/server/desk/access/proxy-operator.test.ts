import { expect, it } from 'vitest';
import { toProxySignIn } from '../../../../src/server/desk/access/proxy-operator.ts';

const settings = {
  authProxyHeader: 'x-forwarded-user',
  authProxySecret: 'a-secret-of-the-proxy',
  authProxyOperators: [],
  trustProxy: ['10.0.0.0/8'],
};

it('trusts no header unless AUTH_PROXY_HEADER is set', () => {
  expect(toProxySignIn({ ...settings, authProxyHeader: undefined, trustProxy: 1 })).toBeUndefined();
});

it.each([0, 1, 2])('refuses to start if the proxy is identified by %s hops instead of addresses', (trustProxy) => {
  expect(() => toProxySignIn({ ...settings, trustProxy })).toThrow(
    /^The setting AUTH_PROXY_HEADER needs the addresses of the proxy/,
  );
});

it('refuses to start with a header but without a secret, and says what to do', () => {
  const open = { ...settings, authProxySecret: undefined };
  expect(() => toProxySignIn(open)).toThrow(
    /^The setting AUTH_PROXY_HEADER needs AUTH_PROXY_SECRET, .* X-Auth-Proxy-Secret/,
  );
  // Reports both mistakes at the same time.
  expect(() => toProxySignIn({ ...open, trustProxy: 1 })).toThrow(/TRUST_PROXY.*\n.*AUTH_PROXY_SECRET/);
});

it('trusts only the listed addresses', () => {
  const trust = toProxySignIn(settings)?.trust;
  expect(trust?.('10.1.2.3', 0)).toBe(true);
  expect(trust?.('192.0.2.1', 0)).toBe(false);
});
