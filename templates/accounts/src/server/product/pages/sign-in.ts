import { redirect } from '#engine';
import { formAction, invalid } from '#engine/server';
import { EmailFields, SignInFields } from '#product/account-fields.ts';
import { listProviders } from '../accounts/auth.ts';
import { limited } from '../accounts/limits.ts';
import { toTarget } from '../accounts/require-user.ts';
import { toCode } from '../accounts/visitor.ts';
import { definePage } from '../context.ts';

const MESSAGES = {
  INVALID_EMAIL_OR_PASSWORD: 'The email address or the password is not correct.',
  EMAIL_NOT_VERIFIED: 'This email address is not confirmed. Use the link in our mail, or get a new one below.',
};

export const signIn = definePage({
  guard({ context, url }) {
    if (context.user) redirect(toTarget(url));
  },
  loader: ({ context: { services }, url }) => ({
    providers: listProviders(services.auth),
    hasMail: services.hasMail,
    hasFailed: url.searchParams.has('error'),
  }),
  actions: {
    signIn: limited(
      formAction(SignInFields, async ({ data: body, context, url }) => {
        await context.limits.signIn(body.email);
        try {
          await context.auth((api, visitor) => api.signInEmail({ body, ...visitor }));
        } catch (error) {
          const code = toCode(error, ['INVALID_EMAIL_OR_PASSWORD', 'EMAIL_NOT_VERIFIED']);
          return invalid({ errors: { '': MESSAGES[code] } });
        }
        redirect(toTarget(url));
      }),
    ),
    sendLink: limited(
      formAction(EmailFields, async ({ data: body, context }) => {
        if (await context.limits.mail(body.email)) {
          await context.auth((api, visitor) => api.requestPasswordReset({ body, ...visitor }));
        }
        return body;
      }),
    ),
  },
});
