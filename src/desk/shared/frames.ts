import type { ErrorShape, FrameShape } from './shapes.ts';

/** Number of frames that are open at first. A deep stack must not push the request out of view. */
const OPEN_FRAMES = 3;

/** Returns the first frames of the app, or else the first frame of Spillway. */
export function chooseOpen({ frames }: Pick<ErrorShape, 'frames'>): ReadonlySet<FrameShape> {
  const ours = frames.filter(({ isOwn, source }) => isOwn && source);
  const application = ours.filter(({ isEngine }) => !isEngine);
  return new Set(application.length > 0 ? application.slice(0, OPEN_FRAMES) : ours.slice(0, 1));
}

interface FrameGroup {
  /** True for frames of Spillway, of dependencies and of the runtime. If false, the group is one frame of the app. */
  readonly isFolded: boolean;
  readonly frames: readonly FrameShape[];
}

/** Returns frames of the app separately, and the other frames in groups. @param opened the result of `chooseOpen` */
export function groupFrames(frames: readonly FrameShape[], opened: ReadonlySet<FrameShape>): FrameGroup[] {
  const groups: { isFolded: boolean; frames: FrameShape[] }[] = [];
  for (const frame of frames) {
    const isFolded = !opened.has(frame) && !(frame.isOwn && !frame.isEngine);
    const last = groups.at(-1);
    if (isFolded && last?.isFolded) last.frames.push(frame);
    else groups.push({ isFolded, frames: [frame] });
  }
  return groups;
}

/** `Spillway, express, Node` */
export function toPackages(frames: readonly FrameShape[]): string {
  const names = new Set(frames.map(toPackage));
  const some = [...names].slice(0, MAX_PACKAGES);
  return names.size > some.length ? `${some.join(', ')} and others` : some.join(', ');
}

const MAX_PACKAGES = 3;

function toPackage({ file, isOwn }: FrameShape): string {
  if (isOwn) return 'Spillway';
  if (file.startsWith('node:')) return 'Node';
  const inModules = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
  return inModules ?? /^https?:\/\/([^/]+)/.exec(file)?.[1] ?? (file === '' ? 'the runtime' : 'other code');
}

/** Returns errors as a terminal would show them. */
export function toStackText(errors: readonly ErrorShape[]): string {
  const texts = errors.map(({ class: name, message, frames }) =>
    [message === '' ? name : `${name}: ${message}`, ...frames.map(toFrameText)].join('\n'),
  );
  return texts.join('\ncaused by ');
}

export function toFrameText({ file, line, column, function: name, isAsync }: FrameShape): string {
  const location = line > 0 ? `${file}:${line}:${column}` : file || '<anonymous>';
  return `    at ${isAsync ? 'async ' : ''}${name ? `${name} (${location})` : location}`;
}
