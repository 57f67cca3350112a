import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Returns the text that positions in a source refer to: the file, unless a plugin has changed it (`source-texts.mjs`).
 *
 * @param dist the folder of the build
 * @param file relative to the root
 * @throws if there is no such file
 */
export function readSourceText(dist: string, file: string): string {
  return readTexts(dist)[file] ?? readFileSync(join(dirname(dist), file), 'utf8');
}

function readTexts(dist: string): Readonly<Record<string, string>> {
  try {
    return JSON.parse(readFileSync(join(dist, 'texts.json'), 'utf8')) as Readonly<Record<string, string>>;
  } catch {
    return {}; // no build has succeeded yet
  }
}
