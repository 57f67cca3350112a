import { redirect } from '#engine';
import { type ActionArgs, formAction, invalid, type ServerPage } from '#engine/server';
import { ChangePasswordFields, DeleteAccountFields } from '#product/account-fields.ts';
import type { AccountActions, AccountData } from '#product/pages/account/account.tsx';
import { limitAttempts } from '../accounts/attempts.ts';
import { requireUser } from '../accounts/require-user.ts';
import { deleteUser, findByPassword, setPassword, type User } from '../accounts/users.ts';
import type { AppContext } from '../context.ts';

const WRONG = { errors: { password: 'This is not your password.' } };

export const account = {
  guard(args) {
    requireUser(args);
  },
  loader: (args) => ({ email: requireUser(args).email }),
  actions: {
    changePassword: formAction(ChangePasswordFields, async ({ data, ...args }) => {
      const user = await findUserAgain(args, data.password);
      if (!user) return invalid(WRONG);
      await args.context.signIn(await setPassword(args.context.services.db, user.email, data.newPassword));
      return true;
    }),
    deleteAccount: formAction(DeleteAccountFields, async ({ data, ...args }) => {
      const user = await findUserAgain(args, data.password);
      if (!user) return invalid(WRONG);
      await deleteUser(args.context.services.db, user);
      await args.context.signOut();
      redirect('/');
    }),
  },
} satisfies ServerPage<AccountData, AppContext, AccountActions>;

/** Asks for the password again, because the browser can be unattended. */
async function findUserAgain(args: ActionArgs<AppContext>, password: string): Promise<User | undefined> {
  const { db } = args.context.services;
  const { email } = requireUser(args);
  await limitAttempts(db, `sign in to ${email}`, 10);
  return findByPassword(db, email, password);
}
