import { notFound } from '#engine';
import type { ServerPage } from '#engine/server';
import type { AppContext } from '../context.ts';

/** Guards every page below it. */
export const fail = {
  guard: ({ context }) => {
    if (!context.settings.tourFailures) notFound();
  },
} satisfies ServerPage<unknown, AppContext>;
