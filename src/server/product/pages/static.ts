import type { StaticData } from '../../../shared/product/pages/static/static.tsx';
import type { ServerPage } from '../../engine/pages/server-page.ts';

export const staticPage = {
  loader: () => ({ renderedAt: new Date() }),
} satisfies ServerPage<StaticData>;
