import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { RequestHandler } from 'express';

/** An Express 4 or 5 app, or the file that exports it, from the root of the project. */
export type ExistingApp = RequestHandler | `./${string}`;

/**
 * Loads an app that was there before. One that is named by its file is no part of the bundle: its
 * `__dirname`, its views and what it requires stay where they are.
 *
 * @param root the folder that holds `package.json`
 * @throws Error with a sentence where the file exports no app
 */
export async function loadExistingApp(app: ExistingApp | undefined, root: string): Promise<RequestHandler | undefined> {
  if (typeof app !== 'string') return app;
  const module = (await import(pathToFileURL(join(root, app)).href)) as { default?: unknown };
  // An app that was compiled to CommonJS keeps its default export one level deeper.
  const found = [module.default, (module.default as { default?: unknown } | undefined)?.default].find(isApp);
  if (found) return found;
  throw new Error(
    `${app} exports no Express app. End it with "module.exports = app" or "export default app", and listen elsewhere: the server listens for it.`,
  );
}

/** The app itself and no function around it: Express knows it by these, and would lose its settings otherwise. */
function isApp(value: unknown): value is RequestHandler {
  return typeof value === 'function' && 'handle' in value && 'set' in value;
}
