/** Ignores case, because Express and React Router do so when they match. */
export function isTakenByDesk(path: string): boolean {
  return /^\/(?:api\/)?desk(?:\/|$)/i.test(path);
}
