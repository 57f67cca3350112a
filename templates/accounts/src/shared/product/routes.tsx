import { defineRoutes } from '#engine';
import { accountPaths } from './account-paths.ts';

/**
 * All pages. `src/server/product/pages/index.ts` adds loaders, guards and actions by route id. A missing or misspelt id
 * does not compile.
 */
export const routes = defineRoutes([
  {
    id: 'root',
    page: () => import('./pages/root/root.tsx'),
    children: [
      { id: 'home', path: '/', page: () => import('./pages/home/home.tsx') },
      { id: 'notes', path: '/notes', page: () => import('./pages/notes/notes.tsx') },
      { id: 'sign-in', path: accountPaths.signIn, page: () => import('./pages/sign-in/sign-in.tsx') },
      { id: 'sign-up', path: accountPaths.signUp, page: () => import('./pages/sign-up/sign-up.tsx') },
      {
        id: 'choose-password',
        path: accountPaths.choosePassword,
        page: () => import('./pages/choose-password/choose-password.tsx'),
      },
      { id: 'account', path: accountPaths.account, page: () => import('./pages/account/account.tsx') },
    ],
  },
  // Static pages are the same for everyone, so their layout does not show the signed-in user.
  { id: 'static', page: () => import('./pages/root/static.tsx'), children: [] },
]);
