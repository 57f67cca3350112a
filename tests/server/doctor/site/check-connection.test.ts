import { describe, expect, it } from 'vitest';
import { NoAnswerError } from '../../../../src/server/doctor/site/ask.ts';
import {
  CONNECTION_CHECKS,
  type ConnectionFacts,
  judgeNoAnswer,
} from '../../../../src/server/doctor/site/check-connection.ts';
import { Day } from '../../../../src/shared/units.ts';

const site = new URL('https://www.example.com');
const now = Date.parse('2026-11-22T00:00:00Z');
const tls = { error: undefined, expiresAt: now + 60 * Day, version: 'TLSv1.3', protocol: 'h2' };
const ours = { 'x-request-id': '0d1f3f2a-1111' };
const facts: ConnectionFacts = { site, home: { status: 200, headers: ours }, tls, redirect: undefined, now };

describe('reachability', () => {
  it.each([
    [200, ours, 'ok'],
    [404, ours, 'ok'],
    [421, ours, 'wrong'],
    [500, ours, 'wrong'],
    [502, {}, 'wrong'],
    [200, {}, 'wrong'],
  ])('is judged for status %i', (status, headers, mark) =>
    expect(CONNECTION_CHECKS.Reachable({ ...facts, home: { status, headers } }).mark).toBe(mark),
  );

  it('explains a network error', () => {
    expect(judgeNoAnswer(new NoAnswerError('ENOTFOUND')).advice).toContain('DNS');
    expect(judgeNoAnswer(new NoAnswerError('EWHATEVER')).found).toContain('EWHATEVER');
  });
});

describe('the certificate', () => {
  it('is valid, expires soon, has expired, or is not trusted', () => {
    const judge = (change: { readonly error?: string; readonly expiresAt?: number }) =>
      CONNECTION_CHECKS.Certificate({ ...facts, tls: { ...tls, ...change } });
    expect(judge({})).toMatchObject({ mark: 'ok', found: 'It is valid for 60 days (TLSv1.3).' });
    expect(judge({ expiresAt: now + 5 * Day })).toMatchObject({ mark: 'warning' });
    expect(judge({ error: 'CERT_HAS_EXPIRED', expiresAt: now - 3 * Day })).toMatchObject({
      mark: 'wrong',
      advice: expect.stringContaining('expired 3 days ago'),
    });
    expect(judge({ error: 'DEPTH_ZERO_SELF_SIGNED_CERT' })?.found).toContain('DEPTH_ZERO_SELF_SIGNED_CERT');
  });
});

it('checks if HTTP/2 is available', () => {
  const home = { status: 200, headers: { 'alt-svc': 'h3=":443"; ma=86400' } };
  expect(CONNECTION_CHECKS['HTTP version']({ ...facts, home })).toMatchObject({
    mark: 'ok',
    found: 'HTTP/2, and HTTP/3 is offered.',
  });
  expect(CONNECTION_CHECKS['HTTP version']({ ...facts, tls: { ...tls, protocol: 'http/1.1' } })?.mark).toBe('warning');
});

it.each([
  [{ status: 308, headers: { location: 'https://www.example.com/' } }, 'ok'],
  [{ status: 301, headers: { location: 'https://example.com/' } }, 'ok'],
  [{ status: 302, headers: { location: 'https://www.example.com/' } }, 'warning'],
  [{ status: 301, headers: { location: 'http://www.example.com/x' } }, 'warning'],
  [{ status: 200, headers: {} }, 'wrong'],
  [undefined, 'warning'],
])('judges the response to plain HTTP: %j', (redirect, mark) =>
  expect(CONNECTION_CHECKS['Redirect to https']({ ...facts, redirect })?.mark).toBe(mark),
);

it('reports missing HSTS, also for a max-age of 0', () => {
  const judge = (text: string | undefined) =>
    CONNECTION_CHECKS.HSTS({
      ...facts,
      home: { status: 200, headers: text === undefined ? {} : { 'strict-transport-security': text } },
    })?.mark;
  expect([judge('max-age=31536000; includeSubDomains'), judge('max-age=0'), judge(undefined)]).toEqual([
    'ok',
    'warning',
    'warning',
  ]);
});
