/**
 * Returns the settings of each app and server that your tests open, such as those without which yours does not start.
 * Settings of a single test replace them.
 */
export async function createTestSettings(): Promise<Readonly<Record<string, string>>> {
  return {};
}
