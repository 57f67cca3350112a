import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

/** Places where a Chromium of the user's own may be; the one from npm serves where there is none. */
const OWN = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/usr/bin/google-chrome-stable'];

/** Starts a headless Chromium: `CHROMIUM_PATH`, one that is installed, or the one from npm. */
export async function launchBrowser(): Promise<Browser> {
  const own = process.env.CHROMIUM_PATH ?? OWN.find((path) => existsSync(path));
  if (own) return chromium.launch({ executablePath: own, args: ['--no-sandbox', ...QUIET] });
  const { default: packed } = await import('@sparticuz/chromium');
  const args = packed.args.filter((arg) => !arg.startsWith('--headless') && arg !== '--single-process' && arg !== '--no-zygote');
  return chromium.launch({ executablePath: await packed.executablePath(), args: [...args, ...QUIET] });
}

const QUIET = ['--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];

export interface Watched {
  /** Console errors and warnings, page errors and violations of the policy, in order. */
  readonly complaints: string[];
}

/** Collects everything that a page complains about. */
export function watch(page: Page): Watched {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`page error: ${error.message}`));
  return { complaints };
}
