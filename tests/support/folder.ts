import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary folder that is removed at the end of the test. */
export function createFolder(onEnd: (clean: () => void) => void): string {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-'));
  onEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
