import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readMappings, toVlq } from '../../../build/sites/mappings.mjs';

const read = (mappings: string) => {
  const segments: number[][] = [];
  readMappings(mappings, (...segment: number[]) => segments.push(segment));
  return segments;
};

it('reads lines, names and segments without a source', () => {
  expect(read('AAAA,IAEC;;A,EACEC')).toEqual([
    [0, 0, 0, 0, 0],
    [0, 4, 0, 2, 1],
    [2, 0, -1, 0, 0],
    [2, 2, 0, 3, 3],
  ]);
});

it('reads what it writes', () => {
  const position = fc.nat({ max: 1_000_000 });
  fc.assert(
    fc.property(fc.array(fc.tuple(position, position, position), { maxLength: 20 }), (segments) => {
      let last = [0, 0, 0];
      const mappings = segments.map(([source, line, column]) => {
        const text = [0, source - (last[0] ?? 0), line - (last[1] ?? 0), column - (last[2] ?? 0)].map(toVlq).join('');
        last = [source, line, column];
        return text;
      });
      expect(read(mappings.join(','))).toEqual(segments.map((segment) => [0, 0, ...segment]));
    }),
  );
});
