import { formAction, type ServerPage } from '#engine/server';
import { EmailFields } from '#product/account-fields.ts';
import type { SignUpActions } from '#product/pages/sign-up/sign-up.tsx';
import { limitAttempts } from '../accounts/attempts.ts';
import type { AppContext } from '../context.ts';

/** For the pages that send a link to choose a password. The answer is the same for known and unknown addresses. */
export const askForLink = {
  actions: {
    sendLink: formAction(EmailFields, async ({ data: { email }, context }) => {
      const { db, queue } = context.services;
      await limitAttempts(db, `mails from ${context.sender}`, 20);
      await limitAttempts(db, `mails to ${email}`, 5);
      await queue.add('sendAccountLink', { email });
      return { email };
    }),
  },
} satisfies ServerPage<unknown, AppContext, SignUpActions>;
