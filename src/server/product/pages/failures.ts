import type { FailuresData } from '../../../shared/product/pages/failures/failures.tsx';
import type { ServerPage } from '../../engine/pages/server-page.ts';
import type { AppContext } from '../context.ts';

export const failures = {
  loader: ({ context }) => ({ enabled: context.settings.tourFailures }),
} satisfies ServerPage<FailuresData, AppContext>;
