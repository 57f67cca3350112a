import { forbidden } from '../../../shared/engine/outcome.ts';
import type { ServerPage } from '../../engine/pages/server-page.ts';

export const failForbidden = {
  guard: () => forbidden(),
} satisfies ServerPage;
