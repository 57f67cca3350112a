import { HEAP_GROWTH } from './growth-words.ts';
import type { ErrorShape, FrameShape } from './shapes.ts';

/** Frames of ours that are open at first (a count): a deep stack must not push the request out of sight. */
const OPEN_FRAMES = 3;

/** Whether an error led to the one before it. What is told of a dead process stands side by side. */
export function isCause(errors: readonly Pick<ErrorShape, 'class'>[], index: number): boolean {
  return index > 0 && errors[0]?.class !== HEAP_GROWTH;
}

/** What stands above the stacks of an occurrence. */
export function toStackTitle(errors: readonly Pick<ErrorShape, 'class'>[]): string {
  return errors[0]?.class === HEAP_GROWTH ? 'What the heap grew by' : 'Stack';
}

/**
 * The application's own; where it has none in the stack, the first of the engine. Of what a heap grew
 * by, the function that allocated it: whose ever it is.
 */
export function chooseOpen({ class: name, frames }: Pick<ErrorShape, 'class' | 'frames'>): ReadonlySet<FrameShape> {
  const ours = frames.filter(({ isOwn, source }) => isOwn && source);
  if (name === HEAP_GROWTH) return new Set(ours.slice(0, 1));
  const application = ours.filter(({ isEngine }) => !isEngine);
  return new Set(application.length > 0 ? application.slice(0, OPEN_FRAMES) : ours.slice(0, 1));
}

/** Each frame of ours for itself, and what lies between them together. */
export function groupFrames(frames: readonly FrameShape[]): FrameShape[][] {
  const groups: FrameShape[][] = [];
  for (const frame of frames) {
    const last = groups.at(-1);
    if (frame.isOwn || !last || last[0]?.isOwn) groups.push([frame]);
    else last.push(frame);
  }
  return groups;
}

/** `express, node` */
export function toPackages(frames: readonly FrameShape[]): string {
  const names = new Set(frames.map(({ file }) => toPackage(file)));
  const some = [...names].slice(0, MAX_PACKAGES);
  return names.size > some.length ? `${some.join(', ')} and others` : some.join(', ');
}

const MAX_PACKAGES = 3;

function toPackage(file: string): string {
  if (file.startsWith('node:')) return 'Node';
  const inModules = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
  return inModules ?? /^https?:\/\/([^/]+)/.exec(file)?.[1] ?? (file === '' ? 'the runtime' : 'other code');
}
