import { setTimeout } from 'node:timers/promises';
import { definePage } from '../context.ts';

export const failLate = definePage({
  loader: ({ signal }) => ({ level: readBrokenGauge(signal) }),
});

async function readBrokenGauge(signal: AbortSignal): Promise<string> {
  await setTimeout(500, undefined, { signal });
  throw new Error('The tour threw this in a promise, after the page was sent.');
}
