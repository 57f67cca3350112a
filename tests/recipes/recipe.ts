import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { shareBrowser, watch } from '../support/browser.ts';
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

export const VITEST = 'vitest/vitest.mjs';

/** Runs a script of a package in an app's folder, with the environment of a shell and these variables. */
export function runScript(
  folder: string,
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly isDone: boolean; readonly stdout: string; readonly stderr: string }> {
  const shell = Object.entries(process.env).filter(([name]) => !/^(?:VITEST|NODE_ENV)/.test(name));
  const options = { cwd: folder, env: { ...Object.fromEntries(shell), ...env } };
  return new Promise((resolve) => {
    execFile(process.execPath, [join(folder, 'node_modules', script), ...args], options, (error, stdout, stderr) =>
      resolve({ isDone: !error, stdout, stderr }),
    );
  });
}

/** The user agent of a visitor. Others are treated as crawlers', which get the complete page. */
export const userAgent = 'Mozilla/5.0 Chrome/150.0.0.0';

/** Opens a page until the test ends, and waits for its router. @param before runs before the navigation */
export async function openPage(url: string, { before, ...options }: OpenOptions = {}) {
  const page = await (await shareBrowser()).newPage({ userAgent, ...options });
  onTestFinished(() => page.context().close());
  const watched = await watch(page);
  await before?.(page);
  await page.goto(url);
  if (options.javaScriptEnabled !== false)
    await page.waitForFunction(() => history.scrollRestoration === 'manual', undefined, { polling: 50 });
  return { page, ...watched };
}

interface OpenOptions extends BrowserContextOptions {
  readonly before?: (page: Page) => unknown;
}

/** Notes each file of this type that a page loads: its path without the hash, its content type and how it is cached. */
export const listLoaded = (type: string, loaded: string[]) => (page: Page) =>
  page.on('response', async (response) => {
    if (response.request().resourceType() !== type) return;
    const { 'content-type': contentType, 'cache-control': cache } = await response.allHeaders();
    loaded.push(`${new URL(response.url()).pathname.replace(/-\w{8}\./, '-*.')} ${contentType} ${cache}`);
  });
