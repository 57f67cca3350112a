import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { warnOfUnanswered } from '../../../src/server/develop/unanswered.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('names a request that has no response after 20 s', () => {
  const log = { warn: vi.fn() };
  const req = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url: '/cart?token=x' });
  void warnOfUnanswered(log)(req, new ServerResponse(req), () => undefined);
  vi.advanceTimersByTime(19_999);
  expect(log.warn).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(log.warn.mock.calls).toEqual([[{ method: 'GET', path: '/cart' }, expect.stringContaining('call next()')]]);
});
