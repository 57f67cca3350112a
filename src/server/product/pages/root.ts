import * as z from 'zod';
import { formAction, type ServerPage } from '#engine/server';
import type { RootActions } from '#product/pages/root/newsletter.tsx';
import type { AppContext } from '../context.ts';

const Subscription = z.object({ email: z.email('Please give a whole e-mail address, such as ada@example.org.') });

export const root = {
  actions: {
    subscribe: formAction(Subscription, ({ data }) => ({ email: data.email })),
  },
} satisfies ServerPage<unknown, AppContext, RootActions>;
