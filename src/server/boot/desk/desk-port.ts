/** Returns the port of a server that serves only the desk, if it has one of its own. */
export function findDeskPort({ DESK_ONLY = '', DESK_PORT }: NodeJS.ProcessEnv): string | undefined {
  return /^(?:1|true|on|yes)$/i.test(DESK_ONLY.trim()) ? DESK_PORT?.trim() : undefined;
}
