import { randomBytes } from 'node:crypto';
import { redirect } from '#engine';
import { conflict, formAction, invalid } from '#engine/server';
import { SignUpFields } from '#product/account-fields.ts';
import { limited } from '../accounts/limits.ts';
import { toTarget } from '../accounts/require-user.ts';
import { toCode } from '../accounts/visitor.ts';
import { type AppContext, definePage } from '../context.ts';

export const signUp = definePage({
  loader: ({ context }) => ({ hasMail: context.services.hasMail }),
  actions: {
    signUp: limited(
      formAction(SignUpFields, async ({ data: { email, password }, context, url }) => {
        if (context.services.hasMail) {
          await sendLink(context, email);
          return { email };
        }
        if (password === undefined) return invalid({ errors: { password: 'Use at least 12 characters.' } });
        await context.limits.signIn(email);
        if (!(await createUser(context, email, password))) {
          return conflict({ errors: { email: 'There already is an account with this email address.' } });
        }
        redirect(toTarget(url));
      }),
    ),
  },
});

/** The answer and the mail are the same for known and unknown addresses. The password is chosen with the link. */
async function sendLink(context: AppContext, email: string): Promise<void> {
  if (!(await context.limits.mail(email))) return;
  await createUser(context, email, randomBytes(32).toString('base64'));
  await context.auth((api, visitor) => api.requestPasswordReset({ body: { email }, ...visitor }));
}

/** Without mail, the user is signed in. @returns false if the address is known */
async function createUser(context: AppContext, email: string, password: string): Promise<boolean> {
  try {
    await context.auth((api, visitor) => api.signUpEmail({ body: { name: '', email, password }, ...visitor }));
    return true;
  } catch (error) {
    // The second one if the same form is sent twice.
    toCode(error, ['USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL', 'FAILED_TO_CREATE_USER']);
    return false;
  }
}
