import { describe, expect, it } from 'vitest';
import { NoAnswerError } from '../../../../src/server/doctor/site/ask.ts';
import {
  judgeCertificate,
  judgeNoAnswer,
  judgeReach,
  judgeRedirect,
  judgeStrictTransport,
  judgeVersion,
} from '../../../../src/server/doctor/site/check-connection.ts';
import { Day } from '../../../../src/shared/units.ts';

const site = new URL('https://www.example.com');
const now = Date.parse('2026-11-22T00:00:00Z');
const tls = { isTrusted: true, error: undefined, endsAt: now + 60 * Day, version: 'TLSv1.3', protocol: 'h2' };
const ours = { 'x-request-id': '0d1f3f2a-1111' };

describe('reachability', () => {
  it.each([
    [200, ours, 'ok'],
    [404, ours, 'ok'],
    [421, ours, 'wrong'],
    [500, ours, 'wrong'],
    [502, {}, 'wrong'],
    [200, {}, 'wrong'],
  ])('of status %i', (status, headers, mark) => expect(judgeReach({ status, headers }).mark).toBe(mark));

  it('says what an error of the network means', () => {
    expect(judgeNoAnswer(new NoAnswerError('ENOTFOUND')).advice).toContain('DNS');
    expect(judgeNoAnswer(new NoAnswerError('EWHATEVER')).found).toContain('EWHATEVER');
  });
});

describe('the certificate', () => {
  it('is good, ends soon, has ended, or is not trusted', () => {
    expect(judgeCertificate(tls, now)).toMatchObject({ mark: 'ok', found: 'It is good for 60 days (TLSv1.3).' });
    expect(judgeCertificate({ ...tls, endsAt: now + 5 * Day }, now)).toMatchObject({ mark: 'warning' });
    const ended = { ...tls, isTrusted: false, error: 'CERT_HAS_EXPIRED', endsAt: now - 3 * Day };
    expect(judgeCertificate(ended, now)).toMatchObject({
      mark: 'wrong',
      advice: expect.stringContaining('ended 3 days ago'),
    });
    const own = { ...tls, isTrusted: false, error: 'DEPTH_ZERO_SELF_SIGNED_CERT' };
    expect(judgeCertificate(own, now).found).toContain('DEPTH_ZERO_SELF_SIGNED_CERT');
  });
});

it('asks for HTTP/2', () => {
  expect(judgeVersion(tls, 'h3=":443"; ma=86400')).toMatchObject({
    mark: 'ok',
    found: 'HTTP/2, and HTTP/3 is offered.',
  });
  expect(judgeVersion({ protocol: 'http/1.1' }, undefined).mark).toBe('warning');
});

it.each([
  [{ status: 308, headers: { location: 'https://www.example.com/' } }, 'ok'],
  [{ status: 301, headers: { location: 'https://example.com/' } }, 'ok'],
  [{ status: 302, headers: { location: 'https://www.example.com/' } }, 'warning'],
  [{ status: 301, headers: { location: 'http://www.example.com/x' } }, 'warning'],
  [{ status: 200, headers: {} }, 'wrong'],
  [undefined, 'warning'],
])('judges what http says: %j', (answer, mark) => expect(judgeRedirect(answer, site).mark).toBe(mark));

it('misses HSTS, and takes no age of 0 for one', () => {
  const judge = (text: string | undefined) =>
    judgeStrictTransport({ headers: text === undefined ? {} : { 'strict-transport-security': text } }, site).mark;
  expect([judge('max-age=31536000; includeSubDomains'), judge('max-age=0'), judge(undefined)]).toEqual([
    'ok',
    'warning',
    'warning',
  ]);
});
