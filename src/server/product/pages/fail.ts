import { notFound } from '../../../shared/engine/outcome.ts';
import type { ServerPage } from '../../engine/pages/server-page.ts';
import type { AppContext } from '../context.ts';

/** Stands before every page below it. */
export const fail = {
  guard: ({ context }) => {
    if (!context.settings.tourFailures) notFound();
  },
} satisfies ServerPage<unknown, AppContext>;
