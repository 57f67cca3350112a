import type { ServerPage } from '../../engine/pages/server-page.ts';

export const failLoader = {
  loader: () => {
    throw new Error('The tour threw this in a loader.');
  },
} satisfies ServerPage;
