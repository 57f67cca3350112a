import type { ServerPage } from '#engine/server';
import type { HomeData } from '#product/pages/home/home.tsx';
import type { AppContext } from '../context.ts';

export const home = {
  loader: ({ context }) => ({ failuresEnabled: context.settings.tourFailures, renderedAt: new Date() }),
} satisfies ServerPage<HomeData, AppContext>;
