/** Runs once in the browser, after hydration has started. */
export function start(): void {}
