import { redirect } from '#engine';
import { formAction, type ServerPage } from '#engine/server';
import { NewPasswordFields } from '#product/account-fields.ts';
import type { ChoosePasswordActions, ChoosePasswordData } from '#product/pages/choose-password/choose-password.tsx';
import { readLink, takeLink } from '../accounts/links.ts';
import { setPassword } from '../accounts/users.ts';
import type { AppContext } from '../context.ts';

export const choosePassword = {
  loader: async ({ params, context }) => ({ email: await readLink(context.services.db, params.token ?? '') }),
  actions: {
    choose: formAction(NewPasswordFields, async ({ data, params, context }) => {
      const { db } = context.services;
      const email = await takeLink(db, params.token ?? '');
      if (email === undefined) return; // the page says that the link has expired
      await context.signIn(await setPassword(db, email, data.password));
      redirect('/');
    }),
  },
} satisfies ServerPage<ChoosePasswordData, AppContext, ChoosePasswordActions>;
