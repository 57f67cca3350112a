import { unauthorized } from '../../../shared/engine/outcome.ts';
import type { ServerPage } from '../../engine/pages/server-page.ts';

export const failUnauthorized = {
  loader: () => unauthorized(),
} satisfies ServerPage;
