import { expect, it, onTestFinished, vi } from 'vitest';
import { startHeartbeat } from '../../../../src/server/desk/notifications/heartbeat.ts';
import type { Reply } from '../../../../src/server/desk/notifications/send-request.ts';
import { Minute, Second } from '../../../../src/shared/units.ts';
import { createTestLog } from '../../../support/test-log.ts';

function start(answer: () => Promise<Reply>, isHealthy = () => true) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { log, lines } = createTestLog();
  const called: string[] = [];
  const end = startHeartbeat({
    url: 'https://hc.example.com/ping/secret',
    sendRequest: (url, { method }) => {
      called.push(`${method} ${url}`);
      return answer();
    },
    isHealthy,
    log,
  });
  onTestFinished(end);
  return { called, lines, end, pass: (ms: number) => vi.advanceTimersByTimeAsync(ms) };
}

it('calls every minute, the first time after one minute', async () => {
  const { called, lines, end, pass } = start(async () => ({ status: 200 }));
  await pass(59 * Second);
  expect(called).toEqual([]);
  await pass(2 * Minute);
  expect(called).toEqual(['GET https://hc.example.com/ping/secret', 'GET https://hc.example.com/ping/secret']);
  end();
  await pass(5 * Minute);
  expect([called.length, lines.length]).toEqual([2, 0]);
});

it('does not call while something is wrong', async () => {
  let isWell = true;
  const { called, pass } = start(
    async () => ({ status: 200 }),
    () => isWell,
  );
  await pass(Minute);
  isWell = false;
  await pass(5 * Minute);
  expect(called).toHaveLength(1);
  isWell = true;
  await pass(Minute);
  expect(called).toHaveLength(2);
});

it('logs a failed call once, without the URL, and logs again after a success', async () => {
  let status = 500;
  const { lines, pass } = start(async () => (status === 0 ? Promise.reject(new Error('gone')) : { status }));
  await pass(3 * Minute);
  expect(lines).toMatchObject([{ level: 'warn', fields: { outcome: 'It answered 500.' } }]);
  expect(JSON.stringify(lines)).not.toContain('secret');
  status = 200;
  await pass(Minute);
  status = 0;
  await pass(2 * Minute);
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatchObject({ fields: { outcome: 'gone' } });
});
