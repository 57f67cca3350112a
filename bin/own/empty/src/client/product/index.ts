/** Called once, when the page is hydrated: the place for what only the browser does. */
export function start(): void {}
