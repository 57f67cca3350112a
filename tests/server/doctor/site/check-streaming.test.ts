import { expect, it } from 'vitest';
import { isStreamed, judgeStream, toSteps } from '../../../../src/server/doctor/site/check-streaming.ts';

const page = (...arrivals: (readonly [at: number, text: string])[]) => ({
  status: 200,
  headers: {},
  arrivals: arrivals.map(([at, text]) => ({ at, text })),
});
const step = (number: number) => `<p>step ${number}</p>\n`;
const streamed = page([5, step(1)], [256, step(2)], [507, step(3)], [760, step(4)]);
const held = page([760, step(1) + step(2) + step(3) + step(4)]);
const linesOf = (...answers: Parameters<typeof judgeStream>) =>
  Object.values(judgeStream(...answers).lines ?? {}).join();

it('finds when each step arrived, even if it was split', () => {
  expect(toSteps(streamed)).toEqual([5, 256, 507, 760]);
  expect(toSteps(page([5, '<p>step 1'], [6, '</p>\n<p>st'], [300, 'ep 2</p>']))).toEqual([6, 300]);
  expect(toSteps(page([5, 'data: step 1\n\n']))).toEqual([5]);
});

it('distinguishes a stream from one that was buffered completely or in part', () => {
  expect([isStreamed(toSteps(streamed)), isStreamed(toSteps(held)), isStreamed([5, 256])]).toEqual([
    true,
    false,
    false,
  ]);
  expect(isStreamed([500, 500, 500, 760])).toBe(false);
});

it('says which part of the proxy buffers', () => {
  expect(judgeStream(streamed, streamed).mark).toBe('ok');
  expect(linesOf(held, held)).toContain('proxy_buffering off;');
  const packed = { ...held, headers: { 'content-encoding': 'gzip' } };
  expect(linesOf(packed, streamed)).toContain('gzip off;');
  expect(judgeStream(packed, held)).toMatchObject({
    mark: 'wrong',
    advice: 'The same change helps.',
  });
  expect(linesOf({ ...held }, streamed)).toContain('proxy_buffering off;');
});

it('does not accept an incomplete response as a stream', () => {
  expect(judgeStream(page([5, step(1)]), streamed).found).toContain('1 of 4 steps');
  expect(judgeStream({ ...streamed, status: 502 }, streamed).mark).toBe('wrong');
});
