/** Ignores case, because Express and React Router do so when they match. */
export function isApiPath(path: string): boolean {
  return /^\/api(?:\/|$)/i.test(path);
}

/** Paths that Spillway reserves (the table in `docs/recipes/existing-app.md`). */
export function isTakenPath(path: string): boolean {
  return /^\/(?:api|_data|_dev|_check|livez|readyz|metrics)(?:\/|$)/i.test(path);
}
