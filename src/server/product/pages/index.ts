import type { ServerPages } from '#engine/server';
import type { href } from '#product/href.ts';
import type { routes } from '#product/routes.tsx';
import type { AppContext } from '../context.ts';
import { cards } from './cards.ts';
import { fail } from './fail.ts';
import { failForbidden } from './fail-forbidden.ts';
import { failLate } from './fail-late.ts';
import { failLoader } from './fail-loader.ts';
import { failUnauthorized } from './fail-unauthorized.ts';
import { failures } from './failures.ts';
import { forms } from './forms.ts';
import { home } from './home.ts';
import { lateNotFound } from './late-not-found.ts';
import { lateRedirect } from './late-redirect.ts';
import { layout } from './layout.ts';
import { layoutTab } from './layout-tab.ts';
import { navigation } from './navigation.ts';
import { shell } from './shell.ts';
import { staticPage } from './static.ts';
import { streaming } from './streaming.ts';

export const pages = {
  root: null,
  home,
  streaming,
  layout,
  'layout-start': null,
  'layout-tab': layoutTab,
  navigation,
  forms,
  static: staticPage,
  shell,
  cards,
  api: null,
  'late-not-found': lateNotFound,
  'late-redirect': lateRedirect,
  failures,
  fail,
  'fail-loader': failLoader,
  'fail-render': null,
  'fail-late': failLate,
  'fail-client': null,
  'fail-effect': null,
  'fail-hydration': null,
  'fail-chunk': null,
  'fail-unauthorized': failUnauthorized,
  'fail-forbidden': failForbidden,
  'fail-not-found': null,
} satisfies ServerPages<typeof routes, AppContext, typeof href>;
