import { unauthorized } from '#engine';
import { definePage } from '../context.ts';

export const failUnauthorized = definePage({
  loader: () => unauthorized(),
});
