import { redirect } from '#engine';
import type { ServerPage } from '#engine/server';
import { accountPaths } from '#product/account-paths.ts';
import type { RootActions, RootData } from '#product/pages/root/root.tsx';
import type { AppContext } from '../context.ts';

export const root = {
  loader: ({ context }) => ({ email: context.user?.email }),
  actions: {
    async signOut({ context }) {
      await context.auth((api, visitor) => api.signOut(visitor));
      redirect(accountPaths.signIn);
    },
  },
  openActions: ['signOut'],
} satisfies ServerPage<RootData, AppContext, RootActions>;
