import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { launchBrowser, type Watched, watch } from '../support/browser.ts';
import { createOwnedApp, type OwnedApp } from '../support/owned-app.ts';

export interface OwnedSite {
  /** Starts the app and opens a page of it; `before` is done before the page goes anywhere. */
  open(path: string, options?: OwnedVisitOptions): Promise<Watched & { readonly page: Page }>;
}

export interface OwnedVisitOptions {
  readonly before?: (page: Page) => Promise<unknown>;
  readonly javaScriptEnabled?: boolean;
}

/** The smallest app with pages of the test's own, built once, and a browser. Use for what no page of the tour does. */
export function useOwnedSite(files: Readonly<Record<string, string>>): OwnedSite {
  let browser: Browser;
  let app: OwnedApp;
  beforeAll(async () => {
    app = createOwnedApp();
    app.write(files);
    [browser] = await Promise.all([launchBrowser(), app.build()]);
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    app?.remove();
  });
  return {
    async open(path, { before, ...options } = {}) {
      const { url } = await app.start();
      const context = await browser.newContext({
        baseURL: url,
        viewport: { width: 1000, height: 700 },
        userAgent: 'Mozilla/5.0 Chrome/150.0.0.0', // a headless one would be served like a crawler
        ...options,
      });
      context.setDefaultTimeout(10_000);
      const page = await context.newPage();
      const watched = await watch(page);
      await before?.(page);
      await page.goto(path);
      return { page, ...watched };
    },
  };
}
