import { expect, it } from 'vitest';
import { EXPOSURE_CHECKS, type ExposureFacts } from '../../../../src/server/doctor/site/check-exposure.ts';
import { SECURITY_HEADERS } from '../../../../src/server/engine/protection/security-headers.ts';

const site = new URL('https://www.example.com');
const ours = { 'x-request-id': 'an-id' };
const facts: ExposureFacts = {
  site,
  home: { distinct: {} },
  metrics: { status: 401 },
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

it('reports metrics that visitors can read', () => {
  const judgeMetrics = (status: number) => EXPOSURE_CHECKS.Metrics({ ...facts, metrics: { status } });
  expect([judgeMetrics(401).mark, judgeMetrics(200).mark]).toEqual(['ok', 'wrong']);
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
