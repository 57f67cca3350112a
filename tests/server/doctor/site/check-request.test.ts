import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../../../src/server/doctor/finding.ts';
import {
  FORGED_ADDRESS,
  FORGED_HOST,
  judgeSockets,
  judgeToken,
  REQUEST_CHECKS,
  type RequestFacts,
  readSeen,
} from '../../../../src/server/doctor/site/check-request.ts';
import type { Seen } from '../../../../src/server/engine/monitoring/doctor-protocol.ts';

const seen: Seen = {
  address: '8.8.4.4',
  peer: '10.0.0.5',
  peerPort: 40_000,
  isPeerTrusted: true,
  isVisitorListed: false,
  scheme: 'https',
  host: 'www.example.com',
  origin: 'https://www.example.com',
  hasOrigins: true,
  hasSockets: true,
  headers: ['host', 'upgrade', 'x-forwarded-for', 'x-forwarded-proto'],
};

const good: RequestFacts = {
  site: new URL('https://www.example.com'),
  siteAddress: '8.8.8.8',
  local: { address: '192.168.1.2', port: 50_000 },
  plain: seen,
  forged: seen,
};

const plain = (change: Partial<Seen>): RequestFacts => ({
  ...good,
  plain: { ...seen, ...change },
  forged: { ...seen, ...change },
});
const forged = (change: Partial<Seen>): RequestFacts => ({ ...good, forged: { ...seen, ...change } });
const judgeAddress = REQUEST_CHECKS["Visitor's address"];
const { Scheme: judgeScheme, Host: judgeHost } = REQUEST_CHECKS;
const toLines = ({ lines = {} }: Verdict) => Object.values(lines).join('\n');

it('finds nothing if everything is right', () => {
  const findings = [judgeAddress(good), judgeScheme(good), judgeHost(good), judgeSockets({ status: 200 }, seen)];
  expect(findings.map(({ mark }) => mark)).toEqual(['ok', 'ok', 'ok', 'ok']);
});

describe("the visitor's address", () => {
  it("can be forged if the proxy forwards the visitor's header", () => {
    const finding = judgeAddress(forged({ address: FORGED_ADDRESS }));
    expect(finding).toMatchObject({ mark: 'wrong', found: expect.stringContaining('A visitor who sends') });
    expect(toLines(finding)).toContain('proxy_set_header X-Forwarded-For $remote_addr;');
  });

  it('can be forged from here if this machine is a trusted proxy, which is inconclusive for others', () => {
    const listed = { ...plain({ isVisitorListed: true }), forged: { ...seen, address: FORGED_ADDRESS } };
    expect(judgeAddress(listed)).toMatchObject({
      mark: 'warning',
      found: expect.stringContaining('trusts this machine'),
    });
    const direct = { ...forged({ address: FORGED_ADDRESS }), local: { address: seen.peer, port: seen.peerPort } };
    expect(judgeAddress(direct).mark).toBe('warning');
  });

  it("is the proxy's if the proxy is not trusted", () => {
    const finding = judgeAddress(plain({ isPeerTrusted: false, address: '10.0.0.5' }));
    expect(finding.mark).toBe('wrong');
    expect(toLines(finding)).toBe('TRUST_PROXY=10.0.0.5');
  });

  it("is the proxy's if the proxy sends no header", () => {
    const quiet = { headers: ['host'], address: '10.0.0.5' };
    expect(judgeAddress(plain(quiet)).mark).toBe('wrong');
    const finding = judgeAddress(plain({ ...quiet, isPeerTrusted: false }));
    expect(finding.mark).toBe('warning');
    expect(toLines(finding)).toContain('option forwardfor');
  });

  it('is a private one if a proxy in front is not counted', () => {
    expect(judgeAddress(plain({ address: '10.0.0.9' }))).toMatchObject({
      mark: 'wrong',
      found: expect.stringContaining('internal'),
    });
    expect(judgeAddress({ ...plain({ address: '10.0.0.9' }), siteAddress: '10.0.0.1' }).mark).toBe('ok');
  });

  it('is right without a proxy', () => {
    const direct = { ...plain({ headers: ['host'] }), local: { address: seen.peer, port: seen.peerPort } };
    expect(judgeAddress(direct)).toMatchObject({ mark: 'ok', found: expect.stringContaining('without a proxy') });
  });
});

describe('the scheme', () => {
  it('is wrong if the proxy does not send it or is not trusted', () => {
    expect(toLines(judgeScheme(plain({ scheme: 'http', headers: [] })))).toContain('X-Forwarded-Proto $scheme');
    expect(toLines(judgeScheme(plain({ scheme: 'http', isPeerTrusted: false })))).toBe('TRUST_PROXY=10.0.0.5');
  });

  it('can be forged', () => {
    expect(judgeScheme(forged({ scheme: 'http' })).mark).toBe('warning');
  });
});

describe('the host', () => {
  it('differs from the one that visitors request', () => {
    const finding = judgeHost(plain({ host: '127.0.0.1:3000', origin: undefined }));
    expect(finding.mark).toBe('wrong');
    expect(toLines(finding)).toContain('proxy_set_header Host $http_host;');
  });

  it('is missing in PUBLIC_ORIGINS, or listed with another scheme', () => {
    expect(judgeHost(plain({ origin: undefined })).found).toContain('421');
    expect(judgeHost(plain({ origin: 'http://www.example.com' }))).toMatchObject({ mark: 'wrong' });
  });

  it('can be forged, which matters only if no origins are set', () => {
    expect(judgeHost(forged({ host: FORGED_HOST })).mark).toBe('ok');
    const open = { ...plain({ hasOrigins: false }), forged: { ...seen, hasOrigins: false, host: FORGED_HOST } };
    expect(judgeHost(open).mark).toBe('wrong');
    expect(judgeHost(plain({ hasOrigins: false })).mark).toBe('warning');
  });
});

it('reports missing handshakes only if the app has WebSockets', () => {
  const headers = ['host'];
  expect(judgeSockets({ status: 200 }, { ...seen, headers })).toMatchObject({ mark: 'wrong' });
  expect(judgeSockets({ status: 200 }, { ...seen, headers, hasSockets: false }).mark).toBe('ok');
  expect(judgeSockets({ status: 400 }, undefined).mark).toBe('unknown');
});

it('distinguishes a wrong token from one that does not arrive', () => {
  expect(judgeToken({ status: 401, headers: { 'www-authenticate': 'Bearer' } }).found).toContain('does not know it');
  expect(judgeToken({ status: 429, headers: { 'retry-after': '12' } })).toMatchObject({
    mark: 'unknown',
    advice: 'Try again in 12 s.',
  });
  const lost = judgeToken({ status: 404, headers: {} });
  expect(toLines(lost)).toContain('$http_authorization');
});

it('rejects responses that are not from the doctor page', () => {
  const body = (value: unknown) => ({ status: 200, body: Buffer.from(JSON.stringify(value)) });
  expect(readSeen(body({ ...seen, peer: '::ffff:10.0.0.5' }))).toEqual(seen);
  expect(readSeen({ ...body(seen), status: 404 })).toBeUndefined();
  expect([body({}), body([]), body(null), { status: 200, body: Buffer.from('<p>') }].map(readSeen)).toEqual([
    ...Array.from({ length: 4 }, () => undefined),
  ]);
});
