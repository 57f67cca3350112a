/** The addresses of the pages of accounts. Links, mails and redirects use them. */
export const accountPaths = {
  signIn: '/sign-in',
  signUp: '/sign-up',
  choosePassword: '/choose-password',
  account: '/account',
} as const;

/** Adds the page to return to. */
export function returnTo(path: string, to: string): string {
  return to === '/' ? path : `${path}?${new URLSearchParams({ to })}`;
}
