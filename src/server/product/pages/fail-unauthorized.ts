import { unauthorized } from '#engine';
import type { ServerPage } from '#engine/server';

export const failUnauthorized = {
  loader: () => unauthorized(),
} satisfies ServerPage;
