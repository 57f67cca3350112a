/** Decodes the credentials of a URL. @returns undefined if they are malformed */
export function readLogin({ username, password }: URL): { readonly user: string; readonly pass: string } | undefined {
  try {
    return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  } catch {
    return undefined;
  }
}
