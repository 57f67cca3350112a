import { redirect } from '#engine';
import { type LoaderArgs, oncePerRequest } from '#engine/server';
import type { AppContext } from '../context.ts';

/** Returns the signed-in user. Other visitors sign in first, and then return to the page. */
export const requireUser = oncePerRequest(({ context, request }: LoaderArgs<AppContext>) => {
  const { pathname, search } = new URL(request.url);
  return context.user ?? redirect(`/sign-in?to=${encodeURIComponent(pathname + search)}`);
});
