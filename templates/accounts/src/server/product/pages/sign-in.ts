import { redirect } from '#engine';
import { formAction, invalid, type ServerPage } from '#engine/server';
import { SignInFields } from '#product/account-fields.ts';
import type { SignInActions } from '#product/pages/sign-in/sign-in.tsx';
import { forgetAttempts, limitAttempts } from '../accounts/attempts.ts';
import { findByPassword } from '../accounts/users.ts';
import type { AppContext } from '../context.ts';

export const signIn = {
  guard({ context, request }) {
    if (context.user) redirect(toTarget(request));
  },
  actions: {
    signIn: formAction(SignInFields, async ({ data, context, request }) => {
      const { db } = context.services;
      const attempts = `sign in to ${data.email}`;
      await limitAttempts(db, `sign in from ${context.sender}`, 50);
      await limitAttempts(db, attempts, 10);
      const user = await findByPassword(db, data.email, data.password);
      if (!user) return invalid({ errors: { '': 'The email address or the password is not correct.' } });
      await forgetAttempts(db, attempts);
      await context.signIn(user);
      redirect(toTarget(request));
    }),
  },
} satisfies ServerPage<unknown, AppContext, SignInActions>;

/** Returns the page that asked to sign in, or the start page if the link leads to another site. */
function toTarget(request: Request): string {
  const to = new URL(request.url).searchParams.get('to') ?? '/';
  const url = URL.parse(to, request.url);
  return url?.origin === new URL(request.url).origin ? url.pathname + url.search : '/';
}
