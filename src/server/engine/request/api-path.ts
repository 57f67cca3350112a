/** Express and React Router match without regard to case, so whoever asks "is this the API?" must too. */
export function isApiPath(path: string): boolean {
  return /^\/api(?:\/|$)/i.test(path);
}

/** Paths that Spillway reserves (the table in `docs/recipes/existing-app.md`). */
export function isTakenPath(path: string): boolean {
  return /^\/(?:api|desk|_data|_dev|_doctor|livez|readyz|metrics)(?:\/|$)/i.test(path);
}
