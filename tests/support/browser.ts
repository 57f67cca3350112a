import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

/** Places where a Chromium of the user's own may be; the one from npm serves where there is none. */
const OWN = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
];

/** Starts a headless Chromium: `CHROMIUM_PATH`, one that is installed, or the one from npm. */
export async function launchBrowser(): Promise<Browser> {
  const own = process.env.CHROMIUM_PATH ?? OWN.find((path) => existsSync(path));
  if (own) return chromium.launch({ executablePath: own, args: ['--no-sandbox', ...QUIET] });
  const { default: packed } = await import('@sparticuz/chromium');
  const args = packed.args.filter(
    (arg) => !arg.startsWith('--headless') && arg !== '--single-process' && arg !== '--no-zygote',
  );
  return chromium.launch({ executablePath: await packed.executablePath(), args: [...args, ...QUIET] });
}

const QUIET = [
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** A request for page data, or one that posts a form. */
export interface SeenRequest {
  readonly method: string;
  /** Path and search. */
  readonly path: string;
  /** Sent ahead of a navigation. */
  readonly isPrefetch: boolean;
}

export interface Watched {
  /** Console errors and warnings, page errors and violations of the policy (report-only ones too), in order. */
  readonly complaints: string[];
  /** Paths for which a whole document was requested. */
  readonly documents: string[];
  /** Requests for page data and posted forms. */
  readonly data: SeenRequest[];
}

/** Writes down what a page complains about and what it asks the server for. To be called before it goes anywhere. */
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
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', ({ effectiveDirective, disposition, blockedURI, sample }) => {
      console.error('violation of the policy:', effectiveDirective, disposition, blockedURI, sample);
    });
  });
  return { complaints, documents, data };
}
