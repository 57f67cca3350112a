import { setTimeout } from 'node:timers/promises';
import type { ServerPage } from '#engine/server';
import type { FailLateData } from '#product/pages/fail/late.tsx';

export const failLate = {
  loader: ({ signal }) => ({ level: readBrokenGauge(signal) }),
} satisfies ServerPage<FailLateData>;

async function readBrokenGauge(signal: AbortSignal): Promise<string> {
  await setTimeout(500, undefined, { signal });
  throw new Error('The tour threw this in a promise, after the page was sent.');
}
