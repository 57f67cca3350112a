import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { createOwnedApp, type OwnedApp, type OwnedAppOptions, project, readProjectFile } from '../support/owned-app.ts';
import { applyBlocks, listBlocks, type RecipeBlock } from '../support/recipe-blocks.ts';

export function listRecipe(name: string): RecipeBlock[] {
  return listBlocks(readProjectFile(`docs/recipes/${name}.md`));
}

/** Creates an app that follows a recipe, with what the recipe assumes: files, and registered services. */
export function createRecipe(name: string, options?: OwnedAppOptions): OwnedApp {
  const over = `recipes/${name}`;
  const isAssuming = existsSync(join(project, 'tests/fixtures', over));
  const app = createOwnedApp([], isAssuming ? { ...options, over } : options);
  const blocks = listRecipe(name);
  applyBlocks(app.folder, blocks);
  if (blocks.some(({ file }) => file === 'src/server/product/services.ts')) {
    const chapter = listBlocks(readProjectFile('docs/guide/02-data.md'));
    applyBlocks(
      app.folder,
      chapter.filter(({ file }) => /product\/(?:index|context)\.ts$/.test(file)),
    );
  }
  return app;
}

/** Builds an app that follows a recipe, for all tests of a file. @param change adds what the recipe leaves out */
export function useRecipe(
  name: string,
  change: (app: OwnedApp) => void = () => undefined,
  options?: OwnedAppOptions,
): OwnedApp {
  const app = createRecipe(name, options);
  change(app);
  beforeAll(() => app.build());
  afterAll(() => app.remove());
  return app;
}
