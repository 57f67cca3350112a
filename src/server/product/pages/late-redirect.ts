import { setTimeout } from 'node:timers/promises';
import { redirect } from '#engine';
import { definePage } from '../context.ts';

export const lateRedirect = definePage({
  loader: ({ signal }) => ({
    boat: setTimeout(300, undefined, { signal }).then(() => redirect('/tour/streaming')),
  }),
});
