import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import owner from '../../package.json' with { type: 'json' };
import './at-end.ts'; // playwright ends its browsers at an exit

/** The same for every Chromium, so that tests say the same with each. */
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--in-process-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** Starts a headless Chromium: the one from npm, or the one that `CHROMIUM_PATH` names. */
export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: process.env.CHROMIUM_PATH ?? (await unpackChromium()), args: ARGS });
}

let shared: Promise<Browser> | undefined;

/** The one browser of this process, which ends with it. Who opens a context or a page in it closes that. */
export function shareBrowser(): Promise<Browser> {
  shared ??= launchBrowser();
  return shared;
}

/** Beside its place, and then renamed: another process never starts half a file, nor that of another version. */
async function unpackChromium(): Promise<string> {
  const folder = join(tmpdir(), `spillway-chromium-${owner.devDependencies['@sparticuz/chromium']}`);
  if (!existsSync(folder)) {
    const { default: packed } = await import('@sparticuz/chromium');
    const { TMPDIR } = process.env;
    const made = mkdtempSync(`${folder}-`);
    process.env.TMPDIR = made; // where it unpacks, which it reads before it waits for anything
    const unpacked = packed.executablePath();
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    await unpacked;
    try {
      renameSync(made, folder);
    } catch {
      rmSync(made, { recursive: true }); // Another process was faster.
    }
  }
  return join(folder, 'chromium');
}

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
