import { redirect } from '#engine';
import { type ActionArgs, formAction, invalid } from '#engine/server';
import { ChangePasswordFields, DeleteAccountFields } from '#product/account-fields.ts';
import { endLinks } from '../accounts/auth.ts';
import { limited } from '../accounts/limits.ts';
import { requireUser } from '../accounts/require-user.ts';
import { toCode } from '../accounts/visitor.ts';
import { type AppContext, definePage } from '../context.ts';

export const account = definePage({
  guard(args) {
    requireUser(args);
  },
  loader: (args) => ({ email: requireUser(args).email }),
  actions: {
    changePassword: limited(
      formAction(ChangePasswordFields, async ({ data: { password, newPassword }, ...args }) => {
        const body = { currentPassword: password, newPassword, revokeOtherSessions: true };
        const isRight = await askPassword(args, (api, visitor) => api.changePassword({ body, ...visitor }));
        if (!isRight) return WRONG;
        await endLinks(args.context.services.auth, requireUser(args));
        return true;
      }),
    ),
    deleteAccount: limited(
      formAction(DeleteAccountFields, async ({ data: body, ...args }) => {
        if (!(await askPassword(args, (api, visitor) => api.deleteUser({ body, ...visitor })))) return WRONG;
        redirect('/');
      }),
    ),
  },
});

const WRONG = invalid({ errors: { password: 'This is not your password.' } });

/** Asks for the password again, because the browser can be unattended. @returns whether it is right */
async function askPassword(
  args: ActionArgs<AppContext>,
  call: Parameters<typeof args.context.auth<unknown>>[0],
): Promise<boolean> {
  await args.context.limits.signIn(requireUser(args).email);
  try {
    await args.context.auth(call);
    return true;
  } catch (error) {
    toCode(error, ['INVALID_PASSWORD', 'CREDENTIAL_ACCOUNT_NOT_FOUND']);
    return false;
  }
}
