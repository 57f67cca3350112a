import type { ExistingApp } from '../engine/http/existing-app.ts';

/**
 * An Express 4 or 5 app that was there before, such as `'./legacy/app.js'`, or the app itself. It gets
 * what no page and no API router claims, and its pages go on as they were.
 */
export const existingApp: ExistingApp | undefined = undefined;
