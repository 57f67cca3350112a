import * as z from 'zod';
import type { RootActions } from '../../../shared/product/pages/root/newsletter.tsx';
import { formAction } from '../../engine/pages/form-action.ts';
import type { ServerPage } from '../../engine/pages/server-page.ts';
import type { AppContext } from '../context.ts';

const Subscription = z.object({ email: z.email('Please give a whole e-mail address, such as ada@example.org.') });

export const root = {
  actions: {
    subscribe: formAction(Subscription, ({ data }) => ({ email: data.email })),
  },
} satisfies ServerPage<unknown, AppContext, RootActions>;
