import * as z from 'zod';
import { operation } from '#engine';

export const Account = z.object({ id: z.string(), email: z.string() }).meta({ id: 'Account' });

export const account = {
  getAccount: operation({
    method: 'GET',
    path: '/account',
    summary: 'Get the signed-in user',
    replies: { 200: { about: 'The user.', body: Account } },
  }),
};
