import type { ServerPage } from '#engine/server';
import type { FailuresData } from '#product/pages/failures/failures.tsx';
import type { AppContext } from '../context.ts';

export const failures = {
  loader: ({ context }) => ({ enabled: context.settings.tourFailures }),
} satisfies ServerPage<FailuresData, AppContext>;
