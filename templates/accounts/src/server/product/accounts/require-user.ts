import { redirect } from '#engine';
import { type LoaderArgs, oncePerRequest } from '#engine/server';
import { accountPaths, returnTo } from '#product/account-paths.ts';
import type { AppContext } from '../context.ts';

/** Returns the signed-in user. Other visitors sign in first, and then return to the page. */
export const requireUser = oncePerRequest(({ context, url }: LoaderArgs<AppContext>) => {
  return context.user ?? redirect(returnTo(accountPaths.signIn, url.pathname + url.search));
});

/** Returns the page that asked to sign in, or the start page if the link leads to another site. */
export function toTarget(url: URL): string {
  const to = URL.parse(url.searchParams.get('to') ?? '/', url);
  const path = to?.origin === url.origin ? to.pathname + to.search : '/';
  return path.startsWith('//') ? '/' : path; // what /.//evil.example becomes
}
