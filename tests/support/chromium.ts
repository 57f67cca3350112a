import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import owner from '../../package.json' with { type: 'json' };
import { Minute } from '../../src/shared/units.ts';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/spillway', import.meta.url));

/** How long an unpacking can take (ms). Older parts are of one that was killed. */
const UNPACK_TIME = 10 * Minute;

/** Unpacks into a separate folder, then renames it, so that other processes never start a partly written Chromium. */
export async function unpackChromium(): Promise<string> {
  const folder = join(CACHE, `chromium-${owner.devDependencies['@sparticuz/chromium']}`);
  if (!existsSync(folder)) {
    const { default: packed } = await import('@sparticuz/chromium');
    const { TMPDIR } = process.env;
    mkdirSync(CACHE, { recursive: true });
    const made = mkdtempSync(`${folder}-`);
    process.env.TMPDIR = made; // the target folder, which is read before the first await
    const unpacked = packed.executablePath();
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    await unpacked;
    try {
      renameSync(made, folder);
    } catch {
      rmSync(made, { recursive: true }); // Another process was faster.
    }
    for (const name of readdirSync(CACHE)) {
      const path = join(CACHE, name);
      if (!name.startsWith('chromium-') || path === folder) continue;
      const isPart = path.startsWith(`${folder}-`) && statSync(path).mtimeMs > Date.now() - UNPACK_TIME;
      if (!isPart) rmSync(path, { recursive: true, force: true });
    }
  }
  return join(folder, 'chromium');
}
