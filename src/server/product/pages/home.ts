import type { HomeData } from '../../../shared/product/pages/home/home.tsx';
import type { ServerPage } from '../../engine/pages/server-page.ts';

export const home = {
  loader: () => ({ renderedAt: new Date() }),
} satisfies ServerPage<HomeData>;
