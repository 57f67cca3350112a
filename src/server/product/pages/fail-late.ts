import { setTimeout } from 'node:timers/promises';
import type { FailLateData } from '../../../shared/product/pages/fail/late.tsx';
import { Millisecond } from '../../../shared/units.ts';
import type { ServerPage } from '../../engine/pages/server-page.ts';

export const failLate = {
  loader: ({ signal }) => ({ level: readBrokenGauge(signal) }),
} satisfies ServerPage<FailLateData>;

async function readBrokenGauge(signal: AbortSignal): Promise<string> {
  await setTimeout(500 * Millisecond, undefined, { signal });
  throw new Error('The tour threw this in a promise, after the page was sent.');
}
