import type { BrowserContext, BrowserContextOptions, Page, ViewportSize } from 'playwright-core';
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
  readonly before?: ((page: Page) => Promise<unknown>) | undefined;
  readonly waitUntil?: 'load' | 'domcontentloaded' | 'commit';
  /** Opens the page with this cookie. */
  readonly cookie?: SessionCookie;
  /** Opens the page in its own browser profile. The default if there is a `before`. */
  readonly isAlone?: boolean;
}

const VIEWPORT = { width: 1000, height: 700 };

/** Events that tests listen to. */
const WATCHED = ['console', 'pageerror', 'request', 'requestfailed', 'requestfinished', 'response', 'dialog'];

interface Profile {
  readonly context: Promise<BrowserContext>;
  readonly viewport: ViewportSize;
  /** Pages of earlier tests. */
  readonly free: Page[];
}

/**
 * Opens pages, and closes them or keeps them for other tests after each test.
 *
 * @param toUrl returns the origin of the site, without a trailing slash
 */
export function usePages(toUrl: () => string) {
  const profiles = new Map<string, Profile>();
  const closing: (() => Promise<unknown>)[] = [];

  async function createContext(options: BrowserContextOptions, cookie?: SessionCookie): Promise<BrowserContext> {
    const browser = await shareBrowser();
    const context = await browser.newContext({
      baseURL: toUrl(),
      viewport: VIEWPORT,
      userAgent: toVisitorsAgent(browser.version()),
      ...options,
    });
    context.setDefaultTimeout(20_000);
    if (cookie) await context.addCookies([cookie]);
    return context;
  }

  /** A profile costs a process and has an empty cache, so pages with the same options share one in each file. */
  function shareProfile(options: BrowserContextOptions, cookie?: SessionCookie): Profile {
    const key = JSON.stringify([options, cookie]);
    const profile = profiles.get(key) ?? {
      context: createContext(options, cookie),
      viewport: options.viewport ?? VIEWPORT,
      free: [],
    };
    profiles.set(key, profile);
    return profile;
  }

  /** Leaves the page's document, and removes what a test has changed in the page. */
  async function free(page: Page, { viewport, free }: Profile): Promise<void> {
    if (page.isClosed()) return;
    for (const event of WATCHED) page.removeAllListeners(event);
    await page.goto(`${toUrl()}/livez`);
    await page.evaluate(() => sessionStorage.clear());
    await page.mouse.move(0, 0); // a link under it would be prefetched
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme: null, reducedMotion: null });
    free.push(page);
  }

  afterEach(async () => {
    await Promise.all(closing.splice(0).map((close) => close()));
  });
  afterAll(async () => {
    for (const { context } of profiles.values()) await (await context).close();
  });

  return async function open(
    path: string,
    { before, waitUntil = 'load', cookie, isAlone = before !== undefined, ...options }: VisitOptions = {},
  ): Promise<Visit> {
    const profile = isAlone ? undefined : shareProfile(options, cookie);
    const context = await (profile?.context ?? createContext(options, cookie));
    // A new page costs twice the CPU time of a navigation.
    const page = profile?.free.pop() ?? (await context.newPage());
    closing.push(async () => {
      // Handlers of delayed requests would fail on a closed page.
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await (profile ? free(page, profile) : context.close());
    });
    const watched = await watch(page);
    const failures = watchFailures(page);
    await before?.(page);
    await page.goto(path, { waitUntil });
    return { page, failures, ...watched };
  };
}

type Open = ReturnType<typeof usePages>;

export interface Site {
  readonly url: string;
  readonly server: E2eServer;
  readonly open: Open;
  /** Opens a page, and waits until the router has taken over. */
  readonly openLive: Open;
}

/**
 * The built server and a browser, both shared with other files.
 *
 * @param prepare returns settings; these tests then get their own server
 */
export function useSite(prepare?: () => Promise<Record<string, string>>): Site {
  let server: E2eServer;
  beforeAll(async () => {
    [server] = await Promise.all([prepare ? prepare().then(startServer) : shareServer(), shareBrowser()]);
  });
  afterAll(async () => {
    if (prepare) await server?.stop();
  });
  const open = usePages(() => server.url);
  return {
    get url() {
      return server.url;
    },
    get server() {
      return server;
    },
    open,
    async openLive(path, options) {
      const visit = await open(path, options);
      await exchanged(visit.page);
      return visit;
    },
  };
}

export interface SessionCookie {
  readonly name: string;
  readonly value: string;
  readonly url: string;
}

/** A regular user agent. The one of a headless Chromium would be treated as a crawler's. */
function toVisitorsAgent(version: string): string {
  return `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version} Safari/537.36`;
}

/** Resolves when React has hydrated the server's markup. A page behind another one can have no frames to wait for. */
export async function hydrated(page: Page, selector = 'main'): Promise<void> {
  await page.waitForFunction(
    (wanted) => {
      const element = document.querySelector(wanted);
      return element !== null && Object.keys(element).some((key) => key.startsWith('__reactFiber'));
    },
    selector,
    { polling: 50 },
  );
}

/** Resolves when the router has replaced its stand-in. It then takes over scroll restoration. */
export async function exchanged(page: Page): Promise<void> {
  await hydrated(page);
  await page.waitForFunction(() => history.scrollRestoration === 'manual', undefined, { polling: 50 });
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

/** Delays requests for a URL until the function that it returns is called. */
export async function hold(page: Page, url: string | RegExp): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(url, async (route) => {
    await promise;
    await route.continue().catch(() => {}); // the page can have left
  });
  return resolve;
}

/** Waits until the page shows this text. */
export const shows = (page: Page, text: string | RegExp) => page.getByText(text).waitFor();

/** Finds the first link with this name. */
export const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).first();

/** Presses the button with this name. */
export const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
