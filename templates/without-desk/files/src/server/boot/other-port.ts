/** Returns the port of a server that serves something else than the site. */
export function findOtherPort(_env: NodeJS.ProcessEnv): string | undefined {
  return undefined;
}
