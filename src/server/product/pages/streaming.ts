import { setTimeout } from 'node:timers/promises';
import { publicError } from '#engine';
import type { Reading } from '#product/pages/streaming/streaming.tsx';
import { definePage } from '../context.ts';

export const streaming = definePage({
  loader: ({ signal }) => {
    const wait = (time: number) => setTimeout(time, undefined, { signal });
    const { read, giveUp } = startClock();
    return {
      near: read('at the bridge', 212),
      upstream: wait(500).then(() => read('upstream', 187)),
      broken: wait(750).then(() => giveUp()),
      mountains: wait(1_000).then(() => read('in the mountains', 64)),
    };
  },
});

/** Adds the time since the request to each reading. */
function startClock() {
  const asked = performance.now();
  const afterMs = () => Math.round(performance.now() - asked);
  return {
    read: (gauge: string, centimetres: number): Reading => ({ gauge, centimetres, afterMs: afterMs() }),
    giveUp: () => publicError(503, `This gauge is out of order. (Rejected after ${afterMs()}\u00a0ms.)`),
  };
}
