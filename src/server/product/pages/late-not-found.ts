import { setTimeout } from 'node:timers/promises';
import { notFound } from '../../../shared/engine/outcome.ts';
import type { LateNotFoundData } from '../../../shared/product/pages/late-outcomes/late-not-found.tsx';
import { Millisecond } from '../../../shared/units.ts';
import type { ServerPage } from '../../engine/pages/server-page.ts';

export const lateNotFound = {
  loader: ({ signal }) => ({ boat: setTimeout(300 * Millisecond, undefined, { signal }).then(() => notFound()) }),
} satisfies ServerPage<LateNotFoundData>;
