import type { ServerPages } from '#engine/server';
import type { href } from '#product/href.ts';
import type { routes } from '#product/routes.tsx';
import type { AppContext } from '../context.ts';
import { account } from './account.ts';
import { choosePassword } from './choose-password.ts';
import { notes } from './notes.ts';
import { root } from './root.ts';
import { signIn } from './sign-in.ts';
import { signUp } from './sign-up.ts';

export const pages = {
  root,
  home: null,
  notes,
  'sign-in': signIn,
  'sign-up': signUp,
  'choose-password': choosePassword,
  account,
  static: null,
} satisfies ServerPages<typeof routes, AppContext, typeof href>;
