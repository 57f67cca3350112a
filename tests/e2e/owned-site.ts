import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { shareBrowser, type Watched, watch } from '../support/browser.ts';
import { createOwnedApp, type OwnedApp, type RunningApp, startApp } from '../support/owned-app.ts';

export interface OwnedSite {
  /** Opens a page of the app. `before` runs before the first navigation. */
  open(path: string, options?: OwnedVisitOptions): Promise<Watched & { readonly page: Page }>;
}

export interface OwnedVisitOptions {
  readonly before?: (page: Page) => Promise<unknown>;
  readonly javaScriptEnabled?: boolean;
}

/** Builds and starts the smallest app with a test's own pages, once. For behaviour that no page of the tour shows. */
export function useOwnedSite(files: Readonly<Record<string, string>>): OwnedSite {
  const contexts: BrowserContext[] = [];
  let app: OwnedApp;
  let server: RunningApp;
  beforeAll(async () => {
    app = createOwnedApp();
    app.write(files);
    await app.build();
    server = await startApp(app.folder);
  }, 120_000);
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()));
  });
  afterAll(async () => {
    await server?.stop();
    app?.remove();
  });
  return {
    async open(path, { before, ...options } = {}) {
      const browser = await shareBrowser();
      const context = await browser.newContext({
        baseURL: server.url,
        viewport: { width: 1000, height: 700 },
        userAgent: 'Mozilla/5.0 Chrome/150.0.0.0', // a headless browser would be treated as a crawler
        ...options,
      });
      contexts.push(context);
      context.setDefaultTimeout(20_000);
      const page = await context.newPage();
      const watched = await watch(page);
      await before?.(page);
      await page.goto(path);
      return { page, ...watched };
    },
  };
}
