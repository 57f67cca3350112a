import { definePage } from '../context.ts';
import { DAMS } from '../dams.ts';

export const layout = definePage({
  loader: () => ({ tabs: DAMS.map(({ id, name }) => ({ id, name })) }),
});
