import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { shareBrowser, type Watched, watch } from '../support/browser.ts';
import { type E2eServer, shareServer, startServer } from '../support/e2e-server.ts';

export interface Visit extends Watched {
  readonly page: Page;
}

export interface VisitOptions extends BrowserContextOptions {
  /** What to do with the page before it goes anywhere, such as `page.route()`. */
  readonly before?: (page: Page) => Promise<unknown>;
  readonly waitUntil?: 'load' | 'domcontentloaded' | 'commit';
  /** With a session of the desk. */
  readonly isSignedIn?: boolean;
  /** For all tests of the file: a profile of its own costs a process of the browser's. */
  readonly isKept?: boolean;
}

export interface Site {
  readonly url: string;
  readonly server: E2eServer;
  /** Opens a page in a browser profile of its own. */
  open(path: string, options?: VisitOptions): Promise<Visit>;
}

/**
 * The built server and a browser, both shared with other files. Pages are closed after each test.
 *
 * @param prepare brings settings, for a server that these tests have for themselves
 */
export function useSite(prepare?: () => Promise<Record<string, string>>): Site {
  const contexts: BrowserContext[] = [];
  const kept: BrowserContext[] = [];
  let server: E2eServer;
  let browser: Browser;
  let session: Promise<SessionCookie> | undefined;
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
    async open(path, { before, waitUntil = 'load', isSignedIn = false, isKept = false, ...options } = {}) {
      const context = await browser.newContext({
        baseURL: server.url,
        viewport: { width: 1000, height: 700 },
        userAgent: toVisitorsAgent(browser.version()),
        ...options,
      });
      (isKept ? kept : contexts).push(context);
      context.setDefaultTimeout(20_000);
      if (isSignedIn) {
        session ??= signIn(server);
        await context.addCookies([await session]);
      }
      const page = await context.newPage();
      const watched = await watch(page);
      await before?.(page);
      await page.goto(path, { waitUntil });
      return { page, ...watched };
    },
  };
}

interface SessionCookie {
  readonly name: string;
  readonly value: string;
  readonly url: string;
}

async function signIn({ url, dataDir }: E2eServer): Promise<SessionCookie> {
  const token = readFileSync(join(dataDir, 'desk-token'), 'utf8').trim();
  const body = new URLSearchParams({ _action: 'root.signIn', token });
  const reply = await fetch(`${url}/desk`, { method: 'POST', redirect: 'manual', headers: { Origin: url }, body });
  const [, name, value] = /^([^=]+)=([^;]+)/.exec(reply.headers.getSetCookie()[0] ?? '') ?? [];
  if (name === undefined || value === undefined) throw new Error(`The desk let nobody in: ${reply.status}.`);
  return { name, value, url };
}

/** Requests that a test held back are let go first: their handlers would fail on a page that is gone. */
async function close(context: BrowserContext): Promise<void> {
  await Promise.all(context.pages().map((page) => page.unrouteAll({ behavior: 'ignoreErrors' })));
  await context.close();
}

/** A headless Chromium says so in its name, and would be served like a crawler. */
function toVisitorsAgent(version: string): string {
  return `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version} Safari/537.36`;
}

/** Resolves when React has taken the server's markup over. */
export async function hydrated(page: Page, selector = 'main'): Promise<void> {
  await page.waitForFunction((wanted) => {
    const element = document.querySelector(wanted);
    return element !== null && Object.keys(element).some((key) => key.startsWith('__reactFiber'));
  }, selector);
}

/** Resolves when the router has taken the place of its stand-in, which it says by taking over scrolling. */
export async function exchanged(page: Page): Promise<void> {
  await hydrated(page);
  await page.waitForFunction(() => history.scrollRestoration === 'manual');
}

/** Marks the document, so that `isSameDocument` can tell whether it was ever exchanged for another one. */
export async function markDocument(page: Page): Promise<void> {
  await page.evaluate(() => {
    (window as { kept?: boolean }).kept = true;
  });
}

export function isSameDocument(page: Page): Promise<boolean> {
  return page.evaluate(() => (window as { kept?: boolean }).kept === true);
}

/** The page's heading, as soon as it is this one. */
export async function heading(page: Page, text: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: text, exact: true }).waitFor();
}
