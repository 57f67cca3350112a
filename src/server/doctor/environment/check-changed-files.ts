import { ok, type Verdict, warning } from '../finding.ts';

/** At most so many files are named. */
const NAMED_FILES = 10;

/**
 * @param text what `listChangedFiles` in `bin/upgrade/spillway-file.mjs` returned, as JSON; undefined without sources
 * @returns undefined if nothing says which files are Spillway's
 */
export function checkChangedFiles(text: string | undefined): Verdict | undefined {
  const found = text ? (JSON.parse(text) as { changed: readonly string[]; total: number } | null) : null;
  if (!found) return undefined;
  const { changed, total } = found;
  if (changed.length === 0) return ok(`All ${total} are as they were released.`);
  const names = changed.slice(0, NAMED_FILES).join(', ');
  const more = changed.length > NAMED_FILES ? ` and ${changed.length - NAMED_FILES} more` : '';
  return warning(
    `${changed.length} of ${total} were changed or removed here: ${names}${more}.`,
    '`npm run upgrade` merges your changes, which can cause conflicts. Move what you can into a product folder.',
  );
}
