import { notFound } from '#engine';
import { definePage } from '../context.ts';
import { DAMS } from '../dams.ts';

export const layoutTab = definePage({
  loader: ({ params }) => {
    const dam = DAMS.find(({ id }) => id === params.tab) ?? notFound();
    return { name: dam.name, text: dam.text, example: dam.example };
  },
});
