import { describe, expect, it } from 'vitest';
import {
  attributeGrowth,
  isScriptOfOurs,
  type SampledNode,
} from '../../../../src/server/desk/keeper/attribute-growth.ts';
import { MAX_GROWTH_FRAMES, MAX_HEAP_GROWTHS } from '../../../../src/server/desk/limits.ts';
import { MiB } from '../../../../src/shared/units.ts';

const node = (name: string, file: string, mib: number, children: SampledNode[] = []): SampledNode => ({
  frame: { file, line: file === '' ? 0 : 1, column: 1, function: name },
  bytes: mib * MiB,
  children,
});
const isOurs = ({ file }: { file: string }) => isScriptOfOurs(file) && file !== 'server/react.js';
const root = (...children: SampledNode[]) => node('(root)', '', 0, children);
const tell = (tree: SampledNode) =>
  attributeGrowth(tree, isOurs).map(({ bytes, frames }) => [bytes / MiB, ...frames.map((frame) => frame.function)]);

describe('what a heap grew by', () => {
  it('is told by the innermost function of ours, with the largest of its stacks', () => {
    const remember = node('remember', 'server/main.js', 3, [
      node('set', '', 10),
      node('render', 'server/react.js', 20, [node('push', 'node:internal/list', 2)]),
    ]);
    expect(tell(root(node('listen', 'node:net', 0, [node('handle', 'server/app.js', 4, [remember])])))).toEqual([
      [35, 'render', 'remember', 'handle', 'listen'],
      [4, 'handle', 'listen'],
    ]);
  });

  it('adds up what one function allocated for several callers', () => {
    const remember = (mib: number) => node('remember', 'server/main.js', mib);
    const tree = root(
      node('first', 'server/app.js', 0, [remember(6)]),
      node('second', 'server/other.js', 0, [remember(8)]),
    );
    expect(tell(tree)).toEqual([[14, 'remember', 'second']]);
  });

  it('is told by Node’s own function where none of ours is on the stack', () => {
    expect(tell(root(node('onread', 'node:net', 5), node('', '', 3)))).toEqual([[5, 'onread']]);
  });

  it('leaves out what is little, and is bounded', () => {
    const deep = Array.from({ length: 60 }).reduce<SampledNode>(
      (inner, _, index) => node(`f${index}`, 'server/main.js', 0, [inner]),
      node('innermost', 'server/deep.js', 200),
    );
    const many = Array.from({ length: 8 }, (_, index) => node(`f${index}`, `server/${index}.js`, 60 + index));
    const told = attributeGrowth(root(deep, ...many, node('little', 'server/little.js', 0.5)), isOurs);
    expect(told).toHaveLength(MAX_HEAP_GROWTHS);
    expect(told[0]?.frames).toHaveLength(MAX_GROWTH_FRAMES);
    expect(tell(root(node('little', 'server/little.js', 0.5)))).toEqual([]);
    expect(tell(root(node('much', 'server/a.js', 100), node('part', 'server/b.js', 4)))).toHaveLength(1);
  });
});
