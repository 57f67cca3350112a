/** Called once, before the page is hydrated: the place for what only the browser does. The tour needs nothing here. */
export function start(): void {}
