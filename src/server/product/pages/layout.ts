import type { ServerPage } from '#engine/server';
import type { LayoutData } from '#product/pages/layout/layout.tsx';
import { DAMS } from '../dams.ts';

export const layout = {
  loader: () => ({ tabs: DAMS.map(({ id, name }) => ({ id, name })) }),
} satisfies ServerPage<LayoutData>;
