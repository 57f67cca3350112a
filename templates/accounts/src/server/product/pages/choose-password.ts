import { formAction, type ServerPage } from '#engine/server';
import { NewPasswordFields } from '#product/account-fields.ts';
import type { ChoosePasswordActions } from '#product/pages/choose-password/choose-password.tsx';
import { toCode } from '../accounts/visitor.ts';
import type { AppContext } from '../context.ts';

export const choosePassword = {
  actions: {
    choose: formAction(NewPasswordFields, async ({ data: { password }, url, context }) => {
      const token = url.searchParams.get('token') ?? '-';
      try {
        await context.auth((api, visitor) => api.resetPassword({ body: { newPassword: password, token }, ...visitor }));
        return true;
      } catch (error) {
        toCode(error, ['INVALID_TOKEN', 'USER_NOT_FOUND']);
        return false;
      }
    }),
  },
} satisfies ServerPage<unknown, AppContext, ChoosePasswordActions>;
