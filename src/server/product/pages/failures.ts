import { definePage } from '../context.ts';

export const failures = definePage({
  loader: ({ context }) => ({ enabled: context.settings.tourFailures }),
});
