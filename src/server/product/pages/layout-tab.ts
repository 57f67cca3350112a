import { notFound } from '#engine';
import type { ServerPage } from '#engine/server';
import type { TabData } from '#product/pages/layout/tab.tsx';
import { DAMS } from '../dams.ts';

export const layoutTab = {
  loader: ({ params }) => {
    const dam = DAMS.find(({ id }) => id === params.tab) ?? notFound();
    return { name: dam.name, text: dam.text, example: dam.example };
  },
} satisfies ServerPage<TabData>;
