import { notFound } from '../../../shared/engine/outcome.ts';
import type { TabData } from '../../../shared/product/pages/layout/tab.tsx';
import type { ServerPage } from '../../engine/pages/server-page.ts';
import { DAMS } from '../dams.ts';

export const layoutTab = {
  loader: ({ params }) => {
    const dam = DAMS.find(({ id }) => id === params.tab) ?? notFound();
    return { name: dam.name, text: dam.text, example: dam.example };
  },
} satisfies ServerPage<TabData>;
