import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A code block in a page of the docs that belongs to a file. */
export interface RecipeBlock {
  readonly file: string;
  /** `diff` for added and removed lines, anything else for a whole file. */
  readonly language: string;
  readonly text: string;
}

const CODE = new Set(['ts', 'tsx', 'js', 'mjs', 'css', 'scss', 'json', 'sql', 'diff']);

/**
 * Lists the code blocks of a page that belong to a file. The line before each of them ends with the file name in
 * backticks and a colon:
 *
 *     And the page, `src/shared/product/pages/x/x.tsx`:
 *
 * @throws Error if no file is named before a block of code
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
  return `The block that begins with "${first}" does not belong to a file. End the line before it with a file and a colon ("In \`src/x.ts\`:"). It is now: "${before}"`;
}

export function applyBlocks(folder: string, blocks: readonly RecipeBlock[]): void {
  for (const { file, language, text } of blocks) {
    const path = join(folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, language === 'diff' ? applyDiff(file, readFileSync(path, 'utf8'), text) : text);
  }
}

/**
 * Applies a diff without line numbers. The source must contain each hunk exactly once. Hunks are separated by a
 * line `…`.
 */
export function applyDiff(file: string, source: string, diff: string): string {
  let result = source;
  for (const hunk of diff.split(/^…\n/m)) {
    const lines = hunk.split('\n').filter((line) => line !== '');
    const before = joinLines(lines.filter((line) => !line.startsWith('+')));
    const after = joinLines(lines.filter((line) => !line.startsWith('-')));
    if (result.split(before).length !== 2) {
      throw new Error(`These lines of a diff are not in ${file} exactly once:\n${before}`);
    }
    result = result.replace(before, () => after);
  }
  return result;
}

/** Joins lines without their first character (`+`, `-` or a space). An empty line can be a lone mark. */
function joinLines(lines: readonly string[]): string {
  return lines.map((line) => `${line.slice(1)}\n`).join('');
}
