/** Express and React Router match without regard to case, so whoever asks "is this the API?" must too. */
export function isApiPath(path: string): boolean {
  return /^\/api(?:\/|$)/i.test(path);
}
