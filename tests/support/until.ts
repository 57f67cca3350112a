/** Looks again until it holds, for what happens behind an answer. */
export async function until(holds: () => boolean, what: string, patience = 10_000): Promise<void> {
  const end = performance.now() + patience;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`Waited in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
