import { setTimeout } from 'node:timers/promises';
import { notFound } from '#engine';
import type { ServerPage } from '#engine/server';
import type { LateNotFoundData } from '#product/pages/late-responses/late-not-found.tsx';

export const lateNotFound = {
  loader: ({ signal }) => ({ boat: setTimeout(300, undefined, { signal }).then(() => notFound()) }),
} satisfies ServerPage<LateNotFoundData>;
