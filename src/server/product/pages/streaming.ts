import { setTimeout } from 'node:timers/promises';
import { publicError } from '../../../shared/engine/outcome.ts';
import type { Reading, StreamingData } from '../../../shared/product/pages/streaming/streaming.tsx';
import { Millisecond, Second } from '../../../shared/units.ts';
import type { ServerPage } from '../../engine/pages/server-page.ts';

export const streaming = {
  loader: ({ signal }) => ({
    near: read('at the bridge', 212),
    upstream: setTimeout(500 * Millisecond, undefined, { signal }).then(() => read('upstream', 187)),
    mountains: setTimeout(1 * Second, undefined, { signal }).then(() => read('in the mountains', 64)),
    broken: setTimeout(750 * Millisecond, undefined, { signal }).then(() =>
      publicError(503, 'This gauge is out of order. The others do not mind.'),
    ),
  }),
} satisfies ServerPage<StreamingData>;

function read(gauge: string, centimetres: number): Reading {
  return { gauge, centimetres, takenAt: new Date() };
}
