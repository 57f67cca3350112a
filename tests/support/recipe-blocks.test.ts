import { expect, it } from 'vitest';
import { applyDiff, listBlocks } from './recipe-blocks.ts';

const block = (before: string, language = 'ts') => `# Page\n\n${before}\n\n\`\`\`${language}\nexport {};\n\`\`\`\n`;

it.each(['In `src/a.ts`:', 'Like `src/b.ts`, but another. `src/a.ts`:', '`src/a.ts`:'])(
  'takes the file at the end of the line before a block: %s',
  (before) => {
    expect(listBlocks(block(before))).toEqual([{ file: 'src/a.ts', language: 'ts', text: 'export {};\n' }]);
  },
);

it.each(['`src/a.ts` has this:', 'In `src/a.ts`. It says:', 'In `src/a.ts`', 'And then:'])(
  'refuses a block if it would have to guess its file: %s',
  (before) => {
    expect(() => listBlocks(block(before))).toThrow(
      /^The block that begins with "export \{\};" does not belong to a file\. End the line before it with a file and a colon/,
    );
  },
);

it('ignores blocks that are not code for a file', () => {
  expect(listBlocks(block('Then run:', 'sh'))).toEqual([]);
});

it('adds and removes only lines that it finds exactly once', () => {
  const diff = ' b\n-c\n+d\n…\n e\n+f\n';
  expect(applyDiff('x.ts', 'a\nb\nc\ne\n', diff)).toBe('a\nb\nd\ne\nf\n');
  expect(() => applyDiff('x.ts', 'b\nb\n', ' b\n+c\n')).toThrow('are not in x.ts exactly once');
});
