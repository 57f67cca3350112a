import { redirect } from '#engine';
import type { ServerPage } from '#engine/server';
import type { RootActions, RootData } from '#product/pages/root/root.tsx';
import type { AppContext } from '../context.ts';

export const root = {
  loader: ({ context }) => ({ email: context.user?.email }),
  actions: {
    async signOut({ context }) {
      await context.signOut();
      redirect('/sign-in');
    },
  },
  openActions: ['signOut'],
} satisfies ServerPage<RootData, AppContext, RootActions>;
