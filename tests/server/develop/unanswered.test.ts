import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { warnOfUnanswered } from '../../../src/server/develop/unanswered.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function receive() {
  const log = { warn: vi.fn() };
  const req = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url: '/cart?token=x' });
  const res = new ServerResponse(req);
  void warnOfUnanswered(log)(req, res, () => undefined);
  return { log, res };
}

it('names a request that has no response after 20 s', () => {
  const { log } = receive();
  vi.advanceTimersByTime(19_999);
  expect(log.warn).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(log.warn.mock.calls).toEqual([[{ method: 'GET', path: '/cart' }, expect.stringContaining('call next()')]]);
});

it('names no request that is answered, also if its response has not ended, or whose visitor has left', () => {
  const answered = receive();
  answered.res.flushHeaders();
  const left = receive();
  left.res.emit('close');
  vi.advanceTimersByTime(20_000);
  expect([...answered.log.warn.mock.calls, ...left.log.warn.mock.calls]).toEqual([]);
});
