import type { StackFrame } from '../../engine/errors/failure.ts';
import type { HeapGrowth } from '../beat.ts';
import { LEAST_HEAP_GROWTH, MAX_GROWTH_FRAMES, MAX_HEAP_GROWTHS } from '../limits.ts';

/** A function in the tree of what was sampled; the root has no frame of its own. */
export interface SampledNode {
  readonly frame: StackFrame;
  /** What it allocated by itself (bytes). */
  readonly bytes: number;
  readonly children: readonly SampledNode[];
}

/** Whether a frame is of the application, or of the engine that it is built on. */
export type IsOurs = (frame: StackFrame) => boolean;

interface Stack {
  readonly bytes: number;
  /** From the innermost outwards. */
  readonly frames: readonly StackFrame[];
}

/**
 * What was allocated, by the innermost function of ours that is on its stack: what Node or a
 * dependency allocates is held by whoever called. Each is told with the largest of its stacks.
 */
export function attributeGrowth(root: SampledNode, isOurs: IsOurs): HeapGrowth[] {
  const stacks = listStacks(root);
  const total = stacks.reduce((sum, { bytes }) => sum + bytes, 0);
  const least = Math.max(LEAST_HEAP_GROWTH.bytes, total * LEAST_HEAP_GROWTH.share);
  const places = Map.groupBy(stacks, ({ frames }) => toPlace(frames.find(isOurs) ?? frames[0]));
  return [...places.values()]
    .map((group) => ({
      bytes: group.reduce((sum, { bytes }) => sum + bytes, 0),
      frames: group.reduce((largest, stack) => (stack.bytes > largest.bytes ? stack : largest)).frames,
    }))
    .filter(({ bytes }) => bytes >= least)
    .sort((left, right) => right.bytes - left.bytes)
    .slice(0, MAX_HEAP_GROWTHS)
    .map(({ bytes, frames }) => ({ bytes, frames: frames.slice(0, MAX_GROWTH_FRAMES) }));
}

function listStacks(root: SampledNode): Stack[] {
  const stacks: Stack[] = [];

  function visit({ frame, bytes, children }: SampledNode, outer: readonly StackFrame[]): void {
    const isTold = frame.file !== '' || frame.function !== '';
    const frames = isTold ? [frame, ...outer] : outer;
    if (bytes > 0 && frames.length > 0) stacks.push({ bytes, frames });
    for (const child of children) visit(child, frames);
  }

  for (const child of root.children) visit(child, []);
  return stacks;
}

function toPlace(frame: StackFrame | undefined): string {
  return frame ? `${frame.file}:${frame.line}:${frame.column} ${frame.function}` : '';
}

/** Whether a script is no part of Node, and no package beside the bundles; which functions of a bundle are ours, its table tells. */
export function isScriptOfOurs(file: string): boolean {
  return file !== '' && !/^(?:node:|node_modules\/|[a-z]+:\/\/)/.test(file);
}
