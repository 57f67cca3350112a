import { definePage } from '../context.ts';

export const failLoader = definePage({
  loader: () => {
    throw new Error('The tour threw this in a loader.');
  },
});
