import { setTimeout } from 'node:timers/promises';
import { notFound } from '#engine';
import { definePage } from '../context.ts';

export const lateNotFound = definePage({
  loader: ({ signal }) => ({ boat: setTimeout(300, undefined, { signal }).then(() => notFound()) }),
});
