import type { ErrorRecord } from '../failure.ts';
import { isExtensionFile } from './frame-file.ts';

/** True where a browser's extension threw, not the site: to be dropped and counted. */
export function isExtensionNoise(errors: readonly ErrorRecord[]): boolean {
  const frames = errors.find((error) => error.frames.length > 0)?.frames ?? [];
  const thrower = frames.find(({ file }) => file !== '');
  return thrower !== undefined && isExtensionFile(thrower.file);
}
