/** Runs once in the browser, after hydration has started. The tour does nothing here. */
export function start(): void {}
