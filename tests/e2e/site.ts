import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { shareBrowser, type Watched, watch } from '../support/browser.ts';
import { watchFailures } from '../support/browser-failures.ts';
import { type E2eServer, shareServer, startServer } from '../support/e2e-server.ts';

export interface Visit extends Watched {
  readonly page: Page;
  /** Waits for the reports of all failures so far. Returns each as its digest and title: `7K3QM2XA TypeError: …`. */
  readonly failures: () => Promise<string[]>;
}

export interface VisitOptions extends BrowserContextOptions {
  /** Runs before the first navigation, for example `page.route()`. */
  readonly before?: (page: Page) => Promise<unknown>;
  readonly waitUntil?: 'load' | 'domcontentloaded' | 'commit';
  /** Opens the page with the cookie that this returns. */
  readonly session?: (server: E2eServer) => Promise<SessionCookie>;
  /** Keeps the page for all tests of the file, because each browser profile costs a process. */
  readonly isKept?: boolean;
}

export interface Site {
  readonly url: string;
  readonly server: E2eServer;
  /** Opens a page in a new browser profile. */
  open(path: string, options?: VisitOptions): Promise<Visit>;
}

/**
 * The built server and a browser, both shared with other files. Pages are closed after each test.
 *
 * @param prepare returns settings; these tests then get their own server
 */
export function useSite(prepare?: () => Promise<Record<string, string>>): Site {
  const contexts: BrowserContext[] = [];
  const kept: BrowserContext[] = [];
  let server: E2eServer;
  let browser: Browser;
  beforeAll(async () => {
    [server, browser] = await Promise.all([prepare ? prepare().then(startServer) : shareServer(), shareBrowser()]);
  });
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map(close));
  });
  afterAll(async () => {
    await Promise.all(kept.map(close));
    if (prepare) await server?.stop();
  });
  return {
    get url() {
      return server.url;
    },
    get server() {
      return server;
    },
    async open(path, { before, waitUntil = 'load', session, isKept = false, ...options } = {}) {
      const context = await browser.newContext({
        baseURL: server.url,
        viewport: { width: 1000, height: 700 },
        userAgent: toVisitorsAgent(browser.version()),
        ...options,
      });
      (isKept ? kept : contexts).push(context);
      context.setDefaultTimeout(20_000);
      if (session) await context.addCookies([await session(server)]);
      const page = await context.newPage();
      const watched = await watch(page);
      const failures = watchFailures(page);
      await before?.(page);
      await page.goto(path, { waitUntil });
      return { page, failures, ...watched };
    },
  };
}

export interface SessionCookie {
  readonly name: string;
  readonly value: string;
  readonly url: string;
}

/** Closes a context. Removes routes first, because handlers of delayed requests would fail on a closed page. */
async function close(context: BrowserContext): Promise<void> {
  await Promise.all(context.pages().map((page) => page.unrouteAll({ behavior: 'ignoreErrors' })));
  await context.close();
}

/** A regular user agent. The one of a headless Chromium would be treated as a crawler's. */
function toVisitorsAgent(version: string): string {
  return `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version} Safari/537.36`;
}

/** Resolves when React has hydrated the server's markup. */
export async function hydrated(page: Page, selector = 'main'): Promise<void> {
  await page.waitForFunction((wanted) => {
    const element = document.querySelector(wanted);
    return element !== null && Object.keys(element).some((key) => key.startsWith('__reactFiber'));
  }, selector);
}

/** Resolves when the router has replaced its stand-in. It then takes over scroll restoration. */
export async function exchanged(page: Page): Promise<void> {
  await hydrated(page);
  await page.waitForFunction(() => history.scrollRestoration === 'manual');
}

/** Marks the document, so that `isSameDocument` can detect a document load. */
export async function markDocument(page: Page): Promise<void> {
  await page.evaluate(() => {
    (window as { kept?: boolean }).kept = true;
  });
}

export function isSameDocument(page: Page): Promise<boolean> {
  return page.evaluate(() => (window as { kept?: boolean }).kept === true);
}

/** Waits for a page heading with this text. */
export async function heading(page: Page, text: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: text, exact: true }).waitFor();
}
