import type { ErrorShape, FrameShape } from './shapes.ts';

/** Frames of ours that are open at first (a count): a deep stack must not push the request out of sight. */
const OPEN_FRAMES = 3;

/** The application's own; where it has none in the stack, the first of the engine. */
export function chooseOpen({ frames }: Pick<ErrorShape, 'frames'>): ReadonlySet<FrameShape> {
  const ours = frames.filter(({ isOwn, source }) => isOwn && source);
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
