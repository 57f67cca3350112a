import type { ServerPages } from '#engine/server';
import type { Actions } from '#product/actions.ts';
import type { routes } from '#product/routes.tsx';
import type { AppContext } from '../context.ts';
import { account } from './account.ts';
import { choosePassword } from './choose-password.ts';
import { root } from './root.ts';
import { askForLink } from './send-link.ts';
import { signIn } from './sign-in.ts';

export const pages = {
  root,
  home: null,
  'sign-in': signIn,
  'sign-up': askForLink,
  'forgot-password': askForLink,
  'choose-password': choosePassword,
  account,
  static: null,
} satisfies ServerPages<typeof routes, AppContext, Actions>;
