import type { HomeData } from '../../../shared/desk/pages/home/home.tsx';
import type { LoadingPage } from '../../engine/pages/server-page.ts';
import type { DeskContext } from './context.ts';

/** Incidents that are listed (a count). */
const ROWS = 50;

export const home = {
  async loader({ context }): Promise<HomeData> {
    const { incidents } = await context.ask('listIncidents', { limit: ROWS });
    return { rows: incidents.map(({ digest, title }) => ({ digest, title })) };
  },
} satisfies LoadingPage<'home', HomeData, DeskContext>;
