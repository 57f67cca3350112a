import { expect, it } from 'vitest';
import { EXPOSURE_CHECKS, type ExposureFacts } from '../../../../src/server/doctor/site/check-exposure.ts';
import { SECURITY_HEADERS } from '../../../../src/server/engine/protection/security-headers.ts';

const site = new URL('https://www.example.com');
const ours = { 'x-request-id': 'an-id' };
const facts: ExposureFacts = {
  site,
  home: { distinct: {} },
  metrics: { status: 401 },
  deskApi: { status: 401, headers: {} },
  deskPages: [],
  forgedPages: [],
  strange: { status: 421, headers: ours },
};

it('checks that each security header is sent once', () => {
  const distinct = Object.fromEntries(SECURITY_HEADERS.map(([name, value]) => [name.toLowerCase(), [value]]));
  const judge = (change: Record<string, string[] | undefined>) =>
    EXPOSURE_CHECKS['Security headers']({ ...facts, home: { distinct: { ...distinct, ...change } } });
  expect(judge({}).mark).toBe('ok');
  const doubled = judge({ 'x-frame-options': ['DENY', 'SAMEORIGIN'] });
  expect(doubled).toMatchObject({ mark: 'warning', found: expect.stringContaining('x-frame-options') });
  const missing = judge({ 'content-security-policy': undefined });
  expect(missing).toMatchObject({ mark: 'warning', found: expect.stringContaining('content-security-policy') });
});

it('reports metrics or a desk that visitors can read', () => {
  const judgeMetrics = (status: number) => EXPOSURE_CHECKS.Metrics({ ...facts, metrics: { status } });
  const judgeDesk = (deskApi: ExposureFacts['deskApi'], deskPages: ExposureFacts['deskPages']) =>
    EXPOSURE_CHECKS.Desk({ ...facts, deskApi, deskPages });
  expect([judgeMetrics(401).mark, judgeMetrics(200).mark]).toEqual(['ok', 'wrong']);
  const json = { 'content-type': 'application/json; charset=utf-8' };
  const closed = [{ status: 401, headers: { 'x-robots-tag': 'noindex, nofollow' } }];
  const open = [{ status: 200, headers: { 'x-robots-tag': 'noindex, nofollow' } }];
  expect(judgeDesk({ status: 401, headers: json }, closed).mark).toBe('ok');
  expect(judgeDesk({ status: 200, headers: { 'content-type': 'text/html' } }, closed).mark).toBe('ok');
  expect(judgeDesk({ status: 200, headers: json }, closed).mark).toBe('wrong');
  expect(judgeDesk({ status: 401, headers: json }, open).mark).toBe('wrong');
  // A page of the product.
  expect(judgeDesk({ status: 404, headers: {} }, [{ status: 200, headers: {} }]).mark).toBe('ok');
});

it('reports a site that trusts a name sent by a visitor', () => {
  const judgeForgedName = (deskPages: ExposureFacts['deskPages'], forgedPages: ExposureFacts['forgedPages']) =>
    EXPOSURE_CHECKS['Forged sign-in']({ ...facts, deskPages, forgedPages });
  const closed = { status: 401, headers: {} };
  const open = { status: 200, headers: { 'x-robots-tag': 'noindex, nofollow' } };
  expect(judgeForgedName([closed, closed], [closed, closed]).mark).toBe('ok');
  expect(judgeForgedName([closed, closed], [closed, open])).toMatchObject({
    mark: 'wrong',
    found: expect.stringMatching(/: \/desk\/_data\.$/),
  });
  expect(judgeForgedName([open, open], [open, open]).mark).toBe('unknown');
});

it('reports a site that answers for other hosts', () => {
  const judge = (status: number, headers: ExposureFacts['strange']['headers']) =>
    EXPOSURE_CHECKS['Other hosts']({ ...facts, strange: { status, headers } });
  expect(judge(421, ours).mark).toBe('ok');
  expect(judge(404, {}).mark).toBe('ok');
  expect(judge(500, ours).mark).toBe('unknown');
  expect(judge(200, ours)).toMatchObject({
    mark: 'warning',
    lines: { setting: 'PUBLIC_ORIGINS=https://www.example.com' },
  });
});
