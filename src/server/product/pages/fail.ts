import { notFound } from '#engine';
import { definePage } from '../context.ts';

/** Guards every page below it. */
export const fail = definePage({
  guard: ({ context }) => {
    if (!context.settings.tourFailures) notFound();
  },
});
