import type { ServerPage } from '#engine/server';

export const failLoader = {
  loader: () => {
    throw new Error('The tour threw this in a loader.');
  },
} satisfies ServerPage;
