import { setTimeout } from 'node:timers/promises';
import { redirect } from '#engine';
import type { ServerPage } from '#engine/server';
import type { LateRedirectData } from '#product/pages/late-responses/late-redirect.tsx';
import { Millisecond } from '../../../shared/units.ts';

export const lateRedirect = {
  loader: ({ signal }) => ({
    boat: setTimeout(300 * Millisecond, undefined, { signal }).then(() => redirect('/tour/streaming')),
  }),
} satisfies ServerPage<LateRedirectData>;
