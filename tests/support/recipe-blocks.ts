import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A block of code in a page of the docs that belongs into a file. */
export interface RecipeBlock {
  readonly file: string;
  /** `diff` for lines that are put in and taken out, anything else for the whole file. */
  readonly language: string;
  readonly text: string;
}

const CODE = new Set(['ts', 'tsx', 'js', 'mjs', 'css', 'json', 'diff']);

/**
 * The blocks of a page that belong into a file. The line before each of them ends with that file, in
 * backticks, and a colon:
 *
 *     And the page, `src/shared/product/pages/x/x.tsx`:
 *
 * @throws Error for a block of code before which no file is named in that way
 */
export function listBlocks(page: string): RecipeBlock[] {
  return [...page.matchAll(/^([^\n]*)\n+```(\w+)\n(.*?)^```$/gms)].flatMap(
    ([, before = '', language = '', text = '']) => {
      if (!CODE.has(language)) return [];
      const file = /`([^`\s]+\.\w+)`:$/.exec(before)?.[1];
      if (!file) throw new Error(unnamed(before, text));
      return [{ file, language, text }];
    },
  );
}

function unnamed(before: string, text: string): string {
  const [first = ''] = text.split('\n');
  return `The block that begins with "${first}" belongs into no file. End the line before it with the file and a colon ("In \`src/x.ts\`:"); it is: "${before}"`;
}

export function applyBlocks(folder: string, blocks: readonly RecipeBlock[]): void {
  for (const { file, language, text } of blocks) {
    const path = join(folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, language === 'diff' ? applyDiff(file, readFileSync(path, 'utf8'), text) : text);
  }
}

/**
 * Puts in and takes out what a diff without line numbers says. Each hunk, parted by a line `…`, must
 * be found in the file as it stands there.
 */
export function applyDiff(file: string, source: string, diff: string): string {
  let result = source;
  for (const hunk of diff.split(/^…\n/m)) {
    const lines = hunk.split('\n').filter((line) => line !== '');
    const before = joinLines(lines.filter((line) => !line.startsWith('+')));
    const after = joinLines(lines.filter((line) => !line.startsWith('-')));
    if (result.split(before).length !== 2) {
      throw new Error(`These lines of a diff stand not once in ${file}:\n${before}`);
    }
    result = result.replace(before, () => after);
  }
  return result;
}

/** Lines without their mark, which may stand for an empty line. */
function joinLines(lines: readonly string[]): string {
  return lines.map((line) => `${line.slice(1)}\n`).join('');
}
