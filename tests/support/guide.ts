import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createNew } from '../../bin/new/new.mjs';
import { withoutSettings } from '../../bin/own/own.mjs';
import { createOwnedApp, type OwnedApp, type OwnedAppOptions } from './owned-app.ts';
import { applyBlocks, listBlocks } from './recipe-blocks.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));

/** Files that `npm run own` keeps, except those that the engine requires, and files that their tests need. */
const KEPT = [
  'src/shared/product/error-pages.tsx',
  'src/shared/product/forms.ts',
  'tests/shared/product/error-pages.test.tsx',
  'tests/support',
  'tests/e2e/site.ts',
  'vitest.config.ts',
  'tsconfig.json',
  'biome.json',
  'build/shared-imports.grit',
  '.gitignore',
  '.env.example',
];

const SHELL = /^```sh\n(.*?)^```$/gms;
const NEW = /^npm run new -- (.+)$/gm;

/** Creates the app that `npm run own` produces, in its own folder, for docs pages that build on each other. */
export function createEmptyApp(options?: OwnedAppOptions): OwnedApp {
  const app = createOwnedApp([], options);
  for (const path of KEPT) cpSync(join(project, path), join(app.folder, path), { recursive: true });
  cpSync(join(project, 'templates/empty'), app.folder, { recursive: true });
  app.write({ '.env.example': withoutSettings(readFileSync(join(project, '.env.example'), 'utf8'), 'TOUR_FAILURES') });
  return app;
}

/** Creates the app that results from following the guide. */
export function createGuideApp(options?: OwnedAppOptions): OwnedApp {
  const app = createEmptyApp(options);
  const pages = readdirSync(join(project, 'docs/guide')).filter((name) => /^\d\d-.*\.md$/.test(name));
  for (const name of pages.sort()) followPage(app.folder, readFileSync(join(project, 'docs/guide', name), 'utf8'));
  return app;
}

/** Follows a page of the guide from top to bottom: writes its code blocks and runs its `npm run new` commands. */
export function followPage(folder: string, text: string): void {
  const page = text.replaceAll('```svg\n', '```css\n'); // also a whole file
  let done = 0;
  for (const { index, 0: block, 1: commands = '' } of page.matchAll(SHELL)) {
    applyBlocks(folder, listBlocks(page.slice(done, index)));
    done = index + block.length;
    for (const [, words = ''] of commands.matchAll(NEW)) {
      createNew(words.split(' '), { root: folder, log: () => undefined });
    }
  }
  applyBlocks(folder, listBlocks(page.slice(done)));
}
