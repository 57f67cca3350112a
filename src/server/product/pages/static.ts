import type { ServerPage } from '#engine/server';
import type { StaticData } from '#product/pages/static/static.tsx';

export const staticPage = {
  loader: () => ({ renderedAt: new Date() }),
} satisfies ServerPage<StaticData>;
