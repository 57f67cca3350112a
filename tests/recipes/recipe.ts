import { afterAll, beforeAll } from 'vitest';
import { createOwnedApp, type OwnedApp, type OwnedAppOptions, readProjectFile } from '../support/owned-app.ts';
import { listBlocks } from '../support/recipe-blocks.ts';

/** Builds an app with the code of a recipe, for all tests of a file. @param change adds what the recipe leaves out */
export function useRecipe(
  name: string,
  change: (app: OwnedApp) => void = () => undefined,
  options?: OwnedAppOptions,
): OwnedApp {
  const app = createOwnedApp(listBlocks(readProjectFile(`docs/recipes/${name}.md`)), options);
  change(app);
  beforeAll(() => app.build());
  afterAll(() => app.remove());
  return app;
}
