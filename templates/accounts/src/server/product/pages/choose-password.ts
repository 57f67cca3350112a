import { formAction } from '#engine/server';
import { NewPasswordFields } from '#product/account-fields.ts';
import { toCode } from '../accounts/visitor.ts';
import { definePage } from '../context.ts';

export const choosePassword = definePage({
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
});
