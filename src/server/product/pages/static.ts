import { definePage } from '../context.ts';

export const staticPage = definePage({
  loader: () => ({ renderedAt: new Date() }),
});
