import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { tokenise } from '../../build/tokens.mjs';

const project = fileURLToPath(new URL('../..', import.meta.url));
const files = ['src', 'tests'].flatMap((folder) =>
  readdirSync(join(project, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(project, folder, file)),
);

it('keeps the text of every file of this project, and finds matching brackets', () => {
  for (const file of files) {
    const source = readFileSync(file, 'utf8');
    const tokens = tokenise(source, { jsx: file.endsWith('x') });
    const end = source.length;
    const gaps = [...tokens, { start: end, end }].map(({ start }, at) => source.slice(tokens[at - 1]?.end ?? 0, start));
    expect(gaps.join('').trim(), file).toBe('');
    const brackets = tokens.filter(({ kind }) => kind === 'punctuation').map(({ text }) => text);
    const count = (found: RegExp) => brackets.filter((text) => found.test(text)).length;
    expect(count(/^[{([]$/), file).toBe(count(/^[})\]]$/));
  }
});
