/** Called once, when hydration has begun: the place for what only the browser does. The tour needs nothing here. */
export function start(): void {}
