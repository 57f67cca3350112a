import { expect, it } from 'vitest';
import { judgeBodies, judgeHeaders } from '../../../../src/server/doctor/site/check-limits.ts';
import { MAX_COUNTED_BYTES } from '../../../../src/server/engine/monitoring/doctor-protocol.ts';

const sent = (size: number, status: number) => ({ size, status, counted: status === 200 ? size : undefined });

it('lets a form through, or says where the limit lies', () => {
  expect(judgeBodies([sent(MAX_COUNTED_BYTES, 200), sent(65_536, 200)]).mark).toBe('ok');
  const half = judgeBodies([sent(MAX_COUNTED_BYTES, 413), sent(65_536, 200), sent(4096, 200)]);
  expect(half).toMatchObject({
    mark: 'wrong',
    found: expect.stringContaining('1,024 KiB is answered with 413, one of 64 KiB comes through'),
  });
  const none = judgeBodies([sent(MAX_COUNTED_BYTES, 413), sent(65_536, 413), sent(4096, 0)]);
  expect(none.found).toBe('A body of 4 KiB has its connection cut. A form may have 1,024 KiB.');
});

it('takes a body that came in part for none', () => {
  expect(judgeBodies([{ size: 2000, status: 200, counted: 1000 }]).mark).toBe('wrong');
});

it('lets headers through', () => {
  expect([judgeHeaders(200).mark, judgeHeaders(431).mark, judgeHeaders(0).mark]).toEqual(['ok', 'warning', 'warning']);
});
