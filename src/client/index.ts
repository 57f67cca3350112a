// What an app besides the product imports in the browser, as `#engine/client`.

export { startDevelopment } from './develop/development.ts';
export { hydrate } from './hydration/hydrate.tsx';
