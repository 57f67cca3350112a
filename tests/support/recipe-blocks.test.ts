import { expect, it } from 'vitest';
import { applyDiff, listBlocks } from './recipe-blocks.ts';

const block = (before: string, language = 'ts') => `# Page\n\n${before}\n\n\`\`\`${language}\nexport {};\n\`\`\`\n`;

it.each(['In `src/a.ts`:', 'Like `src/b.ts`, but another. `src/a.ts`:', '`src/a.ts`:'])(
  'takes the file with which the line before a block ends: %s',
  (before) => {
    expect(listBlocks(block(before))).toEqual([{ file: 'src/a.ts', language: 'ts', text: 'export {};\n' }]);
  },
);

it.each(['`src/a.ts` has this:', 'In `src/a.ts`. It says:', 'In `src/a.ts`', 'And then:'])(
  'refuses a block whose file it would have to guess: %s',
  (before) => {
    expect(() => listBlocks(block(before))).toThrow(
      /^The block that begins with "export \{\};" belongs into no file\. End the line before it with the file and a colon/,
    );
  },
);

it('leaves blocks alone that are no code for a file', () => {
  expect(listBlocks(block('Then run:', 'sh'))).toEqual([]);
});

it('puts in and takes out lines that it finds once, and nothing else', () => {
  const diff = ' b\n-c\n+d\n…\n e\n+f\n';
  expect(applyDiff('x.ts', 'a\nb\nc\ne\n', diff)).toBe('a\nb\nd\ne\nf\n');
  expect(() => applyDiff('x.ts', 'b\nb\n', ' b\n+c\n')).toThrow('stand not once in x.ts');
});
