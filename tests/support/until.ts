/** Polls until a condition is true, for work that continues after a response. */
export async function until(holds: () => boolean, what: string, patience = 30_000): Promise<void> {
  const end = performance.now() + patience;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`Timed out while waiting for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
