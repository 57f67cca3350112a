import { afterAll, describe, expect, it } from 'vitest';
import { readExcerpt } from '../../build/excerpts.mjs';
import { createFolder } from '../support/folder.ts';
import { writeFiles } from './write-files.ts';

const root = createFolder(afterAll);
writeFiles(root, {
  'src/gauges.ts': `import { read } from './read.ts';

/** Not part of it. */
export const page = {
  // Nor is this.
  loader: async ({ id }: { id: string }) => {
    const text = \`\${id}: \${read({ id })} cm, "at" the bridge\`;
    return text.replace(/[{}]/g, '');
  },
  actions: {
    send: () => ({ id }),
    loader: () => 1,
  },
};

export default async function open(gate: { id: string }): Promise<void> {
  if (gate.id < '3') return;
}

type Level = { cm: number };

const table = [
  { id: 'first', path: '/' },
  {
    id: 'second',
    children: [{ id: 'third' }],
  },
];

`,
  'src/page.tsx': `export function Page({ names }: { names: string[] }) {
  return (
    <ul>
      {names.map((name) => (
        <li key={name}>It's {name}; don't {'}'} stop</li>
      ))}
    </ul>
  );
}
`,
});

const read = (request: string) => readExcerpt(root, `src/${request}`);
const textOf = async (request: string) =>
  (await read(request)).spans.map((span) => (typeof span === 'string' ? span : span[1])).join('');

describe('an excerpt', () => {
  it.each([
    ['gauges.ts#page.actions.send', 11, 'send: () => ({ id }),'],
    ['gauges.ts#second', 24, "{\n  id: 'second',\n  children: [{ id: 'third' }],\n},"],
    [
      'gauges.ts#loader',
      6,
      `loader: async ({ id }: { id: string }) => {\n  const text = \`\${id}: \${read({ id })} cm, "at" the bridge\`;\n  return text.replace(/[{}]/g, '');\n},`,
    ],
  ])('%s is found by its name, in whole lines without indentation', async (request, firstLine, text) => {
    expect(await textOf(request)).toBe(text);
    expect(await read(request)).toMatchObject({
      file: 'src/gauges.ts',
      firstLine,
      lastLine: firstLine + text.split('\n').length - 1,
    });
  });

  it('names the kinds of highlighted tokens', async () => {
    expect((await read('gauges.ts#first')).spans).toEqual([
      '{ id: ',
      ['string', "'first'"],
      ', path: ',
      ['string', "'/'"],
      ' },',
    ]);
    const { spans } = await read('page.tsx#Page');
    expect(spans.slice(0, 4)).toEqual([
      ['keyword', 'export'],
      ' ',
      ['keyword', 'function'],
      ' Page({ names }: { names: ',
    ]);
    expect(spans).toContainEqual(['tag', 'li']);
  });
});

it('names the excerpt that is missing, and its file', async () => {
  await expect(read('gauges.ts#closed')).rejects.toThrow(
    'A page shows `excerpt:src/gauges.ts#closed`, but src/gauges.ts has no `closed`.',
  );
});
