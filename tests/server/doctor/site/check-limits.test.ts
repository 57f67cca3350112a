import { expect, it } from 'vitest';
import { LIMIT_CHECKS, type Sent } from '../../../../src/server/doctor/site/check-limits.ts';
import { MAX_COUNTED_BYTES } from '../../../../src/server/engine/monitoring/doctor-protocol.ts';

const judgeBodies = (bodies: readonly Sent[]) => LIMIT_CHECKS['Request bodies']({ bodies, headerStatus: 200 });
const judgeHeaders = (headerStatus: number | undefined) =>
  LIMIT_CHECKS['Request headers']({ bodies: [], headerStatus }).mark;

const sent = (size: number, status: number | undefined) => ({
  size,
  status,
  counted: status === 200 ? size : undefined,
});

it('accepts large forms, or says what the limit is', () => {
  expect(judgeBodies([sent(MAX_COUNTED_BYTES, 200), sent(65_536, 200)]).mark).toBe('ok');
  const half = judgeBodies([sent(MAX_COUNTED_BYTES, 413), sent(65_536, 200), sent(4096, 200)]);
  expect(half).toMatchObject({
    mark: 'wrong',
    found: expect.stringContaining('1,024 KiB gets status 413, and one of 64 KiB arrives'),
  });
  const none = judgeBodies([sent(MAX_COUNTED_BYTES, 413), sent(65_536, 413), sent(4096, undefined)]);
  expect(none.found).toBe('A body of 4 KiB gets its connection closed. Forms can have up to 1,024 KiB.');
});

it('reports a body that arrived incomplete', () => {
  expect(judgeBodies([{ size: 2000, status: 200, counted: 1000 }]).mark).toBe('wrong');
});

it('reports limits for headers', () => {
  expect([judgeHeaders(200), judgeHeaders(431), judgeHeaders(undefined)]).toEqual(['ok', 'warning', 'warning']);
});
