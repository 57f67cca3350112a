import { redirect } from '#engine';
import { type LoaderArgs, oncePerRequest } from '#engine/server';
import { accountPaths } from '#product/account-paths.ts';
import type { AppContext } from '../context.ts';

/** Returns the signed-in user. Other visitors sign in first, and then return to the page. */
export const requireUser = oncePerRequest(({ context, url }: LoaderArgs<AppContext>) => {
  return context.user ?? redirect(`${accountPaths.signIn}?to=${encodeURIComponent(url.pathname + url.search)}`);
});
