import type { ServerPage } from '#engine/server';
import type { HomeData } from '#product/pages/home/home.tsx';

export const home = {
  loader: () => ({ renderedAt: new Date() }),
} satisfies ServerPage<HomeData>;
