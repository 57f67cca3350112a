import { redirect } from '#engine';
import { accountPaths } from '#product/account-paths.ts';
import { definePage } from '../context.ts';

export const root = definePage({
  loader: ({ context }) => ({ email: context.user?.email }),
  actions: {
    async signOut({ context }) {
      await context.auth((api, visitor) => api.signOut(visitor));
      redirect(accountPaths.signIn);
    },
  },
  openActions: ['signOut'],
});
