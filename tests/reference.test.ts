import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const reference = read('docs/reference.md');

it.each([
  ['#engine', 'src/shared/index.ts'],
  ['#engine/server', 'src/server/index.ts'],
  ['#engine/testing', 'tests/support/testing.ts'],
])('docs/reference.md lists what %s exports', (index, file) => {
  const [section = ''] = reference.split(`\n## ${index}\n`)[1]?.split('\n## ') ?? [];
  const rows = section.match(/(?<=^\| `)\w+/gm) ?? [];
  const types = section.match(/(?<=^Types: .*`)\w+(?=`)/gm) ?? [];
  const lists = read(file).match(/(?<=^export (?:type )?\{)[^}]+(?=\} from)/gm) ?? [];
  const exported = lists.flatMap((names) => names.match(/\w+(?=\s*(?:,|$))/g) ?? []);
  expect([...rows, ...types].sort()).toEqual(exported.sort());
});
