import { expect, it } from 'vitest';
import { type ScoredReply, scoreReply } from './observatory.ts';

const TRANSPORT = { 'strict-transport-security': 'max-age=31536000; includeSubDomains' };
const SOUND = {
  ...TRANSPORT,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; script-src 'nonce-a' 'strict-dynamic'; frame-ancestors 'none'",
};
const score = (headers: Record<string, string>, rest: Partial<ScoredReply> = {}) =>
  scoreReply({ headers, ...rest }).score;
const withPolicy = (policy: string) => score({ ...SOUND, 'content-security-policy': policy });

it('scores as the published rules say', () => {
  expect(score({})).toBe(30); // no policy, transport, sniffing or framing
  expect(score(SOUND)).toBe(130);
  expect(score(SOUND, { cookies: ['__Host-login=1; Secure; HttpOnly; SameSite=Lax'] })).toBe(135);
  expect(score(SOUND, { cookies: ['login=1; HttpOnly; SameSite=Lax'] })).toBe(120);
  expect(score(SOUND, { cookies: ['login=1; Secure; SameSite=Lax'] })).toBe(70);
  expect(score(SOUND, { cookies: ['a=1; Secure; SameSite=None'] })).toBe(80);
  expect(score(SOUND, { cookies: ['a=1; Secure'] })).toBe(130);
  expect(score(SOUND, { body: '<script src="/a.js"></script>' })).toBe(130);
  expect(score(SOUND, { body: '<script src="https://cdn.example/a.js"></script>' })).toBe(125);
  expect(score(SOUND, { body: '<script src="http://cdn.example/a.js"></script>' })).toBe(50);
  expect(score({ ...SOUND, 'strict-transport-security': 'max-age=1' })).toBe(120);
  expect(score({ ...SOUND, 'referrer-policy': 'unsafe-url' })).toBe(120);
  expect(score({ ...SOUND, 'x-content-type-options': 'no' })).toBe(125);
  expect(score({ ...SOUND, 'cross-origin-resource-policy': 'cross-origin' })).toBe(120);
});

it('reads a policy as browsers do', () => {
  const framed = "; frame-ancestors 'none'";
  expect(withPolicy(`default-src 'self'${framed}`)).toBe(125);
  expect(withPolicy(`default-src 'none'; script-src 'unsafe-inline'${framed}`)).toBe(80);
  expect(withPolicy(`default-src 'none'; script-src 'nonce-a' 'unsafe-inline'${framed}`)).toBe(130);
  expect(withPolicy(`default-src 'none'; script-src 'nonce-a' https: 'strict-dynamic'${framed}`)).toBe(130);
  expect(withPolicy(`default-src 'none'; script-src https:${framed}`)).toBe(80);
  expect(withPolicy(`script-src 'self'${framed}`)).toBe(80); // objects from anywhere
  expect(withPolicy(`default-src 'none'; style-src 'unsafe-inline'${framed}`)).toBe(120);
  expect(withPolicy(`default-src 'none'; script-src 'self' 'unsafe-eval'${framed}`)).toBe(110);
  expect(withPolicy(`default-src 'none'; connect-src http://a.example${framed}`)).toBe(80);
  expect(withPolicy(`default-src 'none'; img-src http://a.example${framed}`)).toBe(110);
  expect(withPolicy("default-src 'none'")).toBe(125); // framing is set by X-Frame-Options
});
