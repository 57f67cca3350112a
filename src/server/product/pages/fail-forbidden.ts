import { forbidden } from '#engine';
import type { ServerPage } from '#engine/server';

export const failForbidden = {
  guard: () => forbidden(),
} satisfies ServerPage;
