import { expect, it } from 'vitest';
import { toProxySignIn } from '../../../../src/server/desk/sign-in/proxy-operator.ts';

it('believes no header unless one is set', () => {
  expect(toProxySignIn({ authProxyHeader: undefined, authProxyOperators: ['*'], trustProxy: 1 })).toBeUndefined();
});

it.each([0, 1, 2])('refuses a header from whoever is %s hops away, by a sentence', (trustProxy) => {
  const settings = { authProxyHeader: 'x-forwarded-user', authProxyOperators: [], trustProxy };
  expect(() => toProxySignIn(settings)).toThrow(/^The setting AUTH_PROXY_HEADER needs the addresses of the proxy/);
});

it('believes the addresses that are listed', () => {
  const settings = { authProxyHeader: 'x-forwarded-user', authProxyOperators: [], trustProxy: ['10.0.0.0/8'] };
  const trust = toProxySignIn(settings)?.trust;
  expect(trust?.('10.1.2.3', 0)).toBe(true);
  expect(trust?.('192.0.2.1', 0)).toBe(false);
});
