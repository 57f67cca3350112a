import { type Browser, chromium, type Page } from 'playwright-core';
import './at-end.ts'; // Playwright closes its browsers on exit
import { unpackChromium } from './chromium.ts';

/** Shared by all Chromium builds, so that tests behave the same with each. */
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--in-process-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  // Each page would start a second process, and use a quarter more CPU time.
  '--renderer-process-limit=1',
];

/** Starts a headless Chromium: the one from npm, or the one at `CHROMIUM_PATH`. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM_PATH ?? (await unpackChromium());
  const launch = () => chromium.launch({ executablePath, args: ARGS });
  return launch().catch((error: Error) => {
    // Chromium sometimes crashes while it starts, which says nothing about the code under test.
    console.warn(`Chromium did not start, so it is started once more: ${error.message}`);
    return launch();
  });
}

let shared: Promise<Browser> | undefined;

/** Returns the browser shared by all tests of this process. Close the contexts and pages that you open in it. */
export function shareBrowser(): Promise<Browser> {
  shared ??= launchBrowser().then((browser) =>
    // One that crashes fails the tests of one file.
    browser.once('disconnected', () => {
      shared = undefined;
    }),
  );
  return shared;
}

/** A request for page data, or a posted form. */
export interface SeenRequest {
  readonly method: string;
  /** Path and search. */
  readonly path: string;
  /** Whether the page was prefetched. */
  readonly isPrefetch: boolean;
}

export interface Watched {
  /** Console errors and warnings, page errors and CSP violations (including report-only ones), in order. */
  readonly complaints: string[];
  /** Paths that were requested as a document. */
  readonly documents: string[];
  /** Requests for page data, and posted forms. */
  readonly data: SeenRequest[];
}

/** Pages that report violations of the policy. */
const reporting = new WeakSet<Page>();

/** Records a page's complaints and its requests to the server. Call it before the first navigation. */
export async function watch(page: Page): Promise<Watched> {
  const complaints: string[] = [];
  const documents: string[] = [];
  const data: SeenRequest[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`page error: ${error.message}`));
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    const path = pathname + search;
    if (request.isNavigationRequest()) documents.push(path);
    else if ((request.method() === 'POST' && pathname !== '/_report') || pathname.includes('/_data')) {
      data.push({ method: request.method(), path, isPrefetch: request.headers().purpose === 'prefetch' });
    }
  });
  if (reporting.has(page)) return { complaints, documents, data };
  reporting.add(page);
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', ({ effectiveDirective, disposition, blockedURI, sample }) => {
      console.error('violation of the policy:', effectiveDirective, disposition, blockedURI, sample);
    });
  });
  return { complaints, documents, data };
}
