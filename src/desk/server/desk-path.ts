/** A page and data of the desk that only operators can read. */
export const DESK_PATHS: readonly string[] = ['/desk', '/api/desk/incidents'];

/** Ignores case, because Express and React Router do so when they match. */
export function isTakenByDesk(path: string): boolean {
  return /^\/(?:api\/)?desk(?:\/|$)/i.test(path);
}
