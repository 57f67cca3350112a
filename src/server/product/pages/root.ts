import * as z from 'zod';
import type { RootActions } from '../../../shared/product/pages/root/newsletter.tsx';
import { invalid, type ServerPage } from '../../engine/pages/server-page.ts';
import type { AppContext } from '../context.ts';
import { toFieldErrors } from '../field-errors.ts';

const Subscription = z.object({ email: z.email('Please give a whole e-mail address, such as ada@example.org.') });

export const root = {
  actions: {
    subscribe: ({ form }) => {
      const subscription = Subscription.safeParse(Object.fromEntries(form));
      if (!subscription.success) return invalid({ errors: toFieldErrors(subscription.error) });
      return { email: subscription.data.email };
    },
  },
} satisfies ServerPage<unknown, AppContext, RootActions>;
