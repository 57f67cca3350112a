// What the place that failures go to adds to the build: nothing.

/**
 * Client apps besides the product's.
 *
 * @type {(import('./apps.mjs').App & { devEntry: string })[]}
 */
export const apps = [];

/** Bundles of the server, by name. */
export const parts = {};

/**
 * Those of them that are commands, which also run without npm.
 *
 * @type {string[]}
 */
export const commands = [];

/** First parts of paths that it uses. */
export const paths = [];
