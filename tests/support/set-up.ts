import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import buildOnce from './build-once.ts';
import { unpackChromium } from './chromium.ts';

/** Builds and unpacks Chromium before the first test, and creates a compile cache for the servers that tests start. */
export default async function setUp(): Promise<(() => void) | undefined> {
  await buildOnce();
  if (!process.env.CHROMIUM_PATH) await unpackChromium();
  if (process.env.NODE_COMPILE_CACHE) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'spillway-compiled-'));
  process.env.NODE_COMPILE_CACHE = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }); // a process can still write
}
