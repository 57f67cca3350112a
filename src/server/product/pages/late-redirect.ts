import { setTimeout } from 'node:timers/promises';
import { redirect } from '../../../shared/engine/outcome.ts';
import type { LateRedirectData } from '../../../shared/product/pages/late-outcomes/late-redirect.tsx';
import { Millisecond } from '../../../shared/units.ts';
import type { ServerPage } from '../../engine/pages/server-page.ts';

export const lateRedirect = {
  loader: ({ signal }) => ({
    boat: setTimeout(300 * Millisecond, undefined, { signal }).then(() => redirect('/tour/streaming')),
  }),
} satisfies ServerPage<LateRedirectData>;
