import { expect, it } from 'vitest';
import {
  judgeDesk,
  judgeForgedName,
  judgeMetrics,
  judgeSecurityHeaders,
  judgeStrangeHost,
} from '../../../../src/server/doctor/site/check-exposure.ts';
import { SECURITY_HEADERS } from '../../../../src/server/engine/protection/security-headers.ts';

const site = new URL('https://www.example.com');
const ours = { 'x-request-id': 'an-id' };

it('wants each security header once', () => {
  const fields = SECURITY_HEADERS.map(([name, value]) => [name.toLowerCase(), value] as const);
  expect(judgeSecurityHeaders({ fields }).mark).toBe('ok');
  const doubled = judgeSecurityHeaders({ fields: [...fields, ['x-frame-options', 'SAMEORIGIN']] });
  expect(doubled).toMatchObject({ mark: 'warning', found: expect.stringContaining('x-frame-options') });
  const missing = judgeSecurityHeaders({ fields: fields.filter(([name]) => name !== 'content-security-policy') });
  expect(missing).toMatchObject({ mark: 'warning', found: expect.stringContaining('content-security-policy') });
});

it('lets nobody read the metrics, nor the desk', () => {
  expect([judgeMetrics({ status: 401 }).mark, judgeMetrics({ status: 200 }).mark]).toEqual(['ok', 'wrong']);
  const json = { 'content-type': 'application/json; charset=utf-8' };
  const closed = [{ status: 401, headers: { 'x-robots-tag': 'noindex, nofollow' } }];
  const open = [{ status: 200, headers: { 'x-robots-tag': 'noindex, nofollow' } }];
  expect(judgeDesk({ status: 401, headers: json }, closed).mark).toBe('ok');
  expect(judgeDesk({ status: 200, headers: { 'content-type': 'text/html' } }, closed).mark).toBe('ok');
  expect(judgeDesk({ status: 200, headers: json }, closed).mark).toBe('wrong');
  expect(judgeDesk({ status: 401, headers: json }, open).mark).toBe('wrong');
  // A page of the site's own.
  expect(judgeDesk({ status: 404, headers: {} }, [{ status: 200, headers: {} }]).mark).toBe('ok');
});

it('believes no name that a visitor sends', () => {
  const closed = { status: 401, headers: {} };
  const open = { status: 200, headers: { 'x-robots-tag': 'noindex, nofollow' } };
  expect(judgeForgedName([closed, closed], [closed, closed]).mark).toBe('ok');
  expect(judgeForgedName([closed, closed], [closed, open])).toMatchObject({
    mark: 'wrong',
    found: expect.stringMatching(/: \/desk\/_data\.$/),
  });
  expect(judgeForgedName([open, open], [open, open]).mark).toBe('unknown');
});

it('is not served under a stranger’s name', () => {
  expect(judgeStrangeHost({ status: 421, headers: ours }, site).mark).toBe('ok');
  expect(judgeStrangeHost({ status: 404, headers: {} }, site).mark).toBe('ok');
  expect(judgeStrangeHost({ status: 500, headers: ours }, site).mark).toBe('unknown');
  expect(judgeStrangeHost({ status: 200, headers: ours }, site)).toMatchObject({
    mark: 'warning',
    remedies: [{ place: 'setting', line: 'PUBLIC_ORIGINS=https://www.example.com' }],
  });
});
