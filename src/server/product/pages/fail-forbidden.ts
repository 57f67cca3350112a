import { forbidden } from '#engine';
import { definePage } from '../context.ts';

export const failForbidden = definePage({
  guard: () => forbidden(),
});
