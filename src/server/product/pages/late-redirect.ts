import { setTimeout } from 'node:timers/promises';
import { redirect } from '#engine';
import type { ServerPage } from '#engine/server';
import type { LateRedirectData } from '#product/pages/late-responses/late-redirect.tsx';

export const lateRedirect = {
  loader: ({ signal }) => ({
    boat: setTimeout(300, undefined, { signal }).then(() => redirect('/tour/streaming')),
  }),
} satisfies ServerPage<LateRedirectData>;
