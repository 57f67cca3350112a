import { definePage } from '../context.ts';

export const home = definePage({
  loader: ({ context }) => ({ failuresEnabled: context.settings.tourFailures, renderedAt: new Date() }),
});
