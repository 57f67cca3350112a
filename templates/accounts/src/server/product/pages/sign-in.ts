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

/** Why signing in with another provider failed. For other reasons, trying again helps. */
const REASONS = new Map([
  ['access_denied', 'You did not allow the other service to sign you in. Try again, or use your email address.'],
  ['account_not_linked', 'Your email address already has an account here. Sign in to it with your password.'],
  ['email_not_found', 'The other service did not share your email address. Allow it there, or sign up here.'],
  [
    'unavailable',
    'Signing in with the other service is not available now. Try again later, or use your email address.',
  ],
]);

function explain({ searchParams }: URL) {
  const code = searchParams.get('error');
  if (code === null) return undefined;
  const [address] = /^[0-9A-Z]{8}-[0-9A-Z]{8}$/.exec(searchParams.get('address') ?? '') ?? [];
  return { text: REASONS.get(code) ?? 'Signing in was not completed. Try again.', address };
}

export const signIn = definePage({
  guard({ context, url }) {
    if (context.user) redirect(toTarget(url));
  },
  loader: ({ context: { services }, url }) => ({
    providers: listProviders(services.auth),
    hasMail: services.hasMail,
    to: toTarget(url),
    problem: explain(url),
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
