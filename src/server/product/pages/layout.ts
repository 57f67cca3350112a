import type { LayoutData } from '../../../shared/product/pages/layout/layout.tsx';
import type { ServerPage } from '../../engine/pages/server-page.ts';
import { DAMS } from '../dams.ts';

export const layout = {
  loader: () => ({ tabs: DAMS.map(({ id, name }) => ({ id, name })) }),
} satisfies ServerPage<LayoutData>;
