import { findSourceMap } from 'node:module';
import { dirname } from 'node:path';
import type { DevError, DevProblem, DevState, ThrownInBrowser } from '../../shared/develop-protocol.ts';
import { LINE_END } from '../../shared/location-format.mjs';
import { isProductCode } from '../../shared/whose-code.mjs';
import { toErrorHint } from '../../shared/words.ts';
import { parseStack, readErrors, toSourcePath } from '../errors/digest/read-error.ts';
import type { ErrorRecord, StackFrame } from '../errors/failure.ts';
import { createClientMaps, readSourceText } from './source-table.ts';

/** Lines shown before and after the line of the error (count). */
const AROUND = 3;

/** Frames that are shown (count). */
const MAX_SHOWN_FRAMES = 12;

/** The text, the frames and React's component stack of a thrown value. */
interface Thrown extends Pick<ErrorRecord, 'frames'> {
  readonly title: string;
  readonly text: string;
  readonly componentStack: string | undefined;
}

/** Describes an error that the server threw. @param dist the folder of the build */
export function toDevError(title: string, error: unknown, componentStack: string | undefined, dist: string): DevError {
  const [thrown] = readErrors(error, { dist });
  const text = `${thrown?.class}: ${thrown?.message}`;
  const frames = thrown?.frames ?? [];
  return describe({ title, text, frames, componentStack: componentStack && mapServerFiles(componentStack) }, dist);
}

/** Node maps the stacks of errors only, not React's component stack. */
function mapServerFiles(stack: string): string {
  return stack.replace(/((?:file:\/\/)?\/[^\s():]+\.js):(\d+):(\d+)/g, (position, path, line, column) => {
    const origin = findSourceMap(path)?.findOrigin(Number(line), Number(column));
    return origin && 'fileName' in origin ? `${origin.fileName}:${origin.lineNumber}:${origin.columnNumber}` : position;
  });
}

/**
 * Describes an error that the browser threw, in a built script. Others who reach the server can send one too, so it shows
 * only the source of modules that browsers get anyway.
 *
 * @param dist the folder of the build
 */
export function toBrowserError(
  { title, message, stack, componentStack }: ThrownInBrowser,
  dist: string,
  { modules }: Pick<DevState, 'modules'>,
): DevError {
  // Firefox and Safari write `name@location`.
  const inV8 = mapAssets(stack, dist).replace(/^(?:.*\*)?(.*)@(\S+:\d+:\d+)$/gm, '    at $1 ($2)');
  const frames = parseStack(inV8, { dist }, message);
  return describe(
    { title, text: message, frames, componentStack: componentStack && mapAssets(componentStack, dist) },
    dist,
    (file) => Object.hasOwn(modules, file),
  );
}

function describe(
  { title, text, frames, componentStack = '' }: Thrown,
  dist: string,
  isShown: (file: string) => boolean = () => true,
): DevError {
  const root = dirname(dist);
  const located = frames.filter(({ file }) => file !== '' && !file.startsWith('node:'));
  // React throws some errors by itself, such as that of an object as a child. Then the component says where, if it has a
  // location: React finds none for a component that uses no hook and no field of its props.
  const component = parseStack(componentStack, { dist }).find((frame) => /^[A-Z]/.test(frame.function));
  const candidates = [...located, ...(component?.file ? [component] : [])].filter(isProjects);
  const own = candidates.find((frame) => isProductCode(frame.file)) ?? candidates[0];
  const hint = toErrorHint(text);
  const [said = '', tree] = text.split(/(?<=\/hydration-mismatch)\n+/);
  const problem: DevProblem = {
    text: hint ? `${text}\n${hint}` : said,
    ...(own && toShownLocation(dist, own, isShown(own.file))),
    trail: [...(tree?.split('\n') ?? []), ...located.slice(0, MAX_SHOWN_FRAMES).map(toLine)],
  };
  const components = componentStack
    .split('\n')
    .map((line) => line.trim().replaceAll(`${root}/`, '').replaceAll('file://', ''));
  const trail = components.filter(Boolean);
  if (trail.length === 0) return { title, problems: [problem] };
  return { title, problems: [problem, { text: 'The components around it, innermost first', trail }] };
}

/** True for a frame of the project's source; false for dependencies, Node and the build. */
function isProjects({ file }: StackFrame): boolean {
  return !/^(?:\.\.|node_modules|server|client)\/|:/.test(file);
}

function toLine({ function: name, file, line, column }: StackFrame): string {
  const location = `${file}:${line}:${column}`;
  return name ? `at ${name} (${location})` : `at ${location}`;
}

/** Adds lines of source to the supervisor's report of a failed build. */
export function withLocations(error: DevError, dist: string): DevError {
  const problems = error.problems.map((problem) => {
    const { file, line, column } = problem;
    if (file === undefined || line === undefined || column === undefined) return problem;
    return { ...problem, ...toShownLocation(dist, { file, line, column }) };
  });
  return { ...error, problems };
}

/** @param location its file is that of a frame */
function toShownLocation(
  dist: string,
  { file, line, column }: Pick<StackFrame, 'file' | 'line' | 'column'>,
  isShown = true,
): Pick<DevProblem, 'file' | 'line' | 'column' | 'open' | 'lines'> {
  const from = Math.max(1, line - AROUND);
  const link = process.env.EDITOR_LINK ?? 'vscode://file/{file}:{line}:{column}';
  return {
    file,
    line,
    column,
    open: link
      .replace('{file}', encodeURI(toSourcePath(file, { dist })))
      .replace('{line}', String(line))
      .replace('{column}', String(column)),
    lines: (isShown ? readRows(dist, file) : [])
      .slice(from - 1, line + AROUND)
      .map((text, index) => [from + index, text] as const),
  };
}

function readRows(dist: string, file: string): string[] {
  try {
    return readSourceText(dist, file).split(LINE_END);
  } catch {
    return [];
  }
}

/** Replaces positions in the served scripts by positions in the source, with their source maps. */
function mapAssets(stack: string, dist: string): string {
  const toSource = createClientMaps(dist);
  const script = /https?:\/\/[^\s)/]+(\/(?:assets|_dev\/modules)\/[^\s):?]+\.js)(?:\?v=\d+)?:(\d+):(\d+)/g;
  return stack.replace(script, (position, path, line, column) => {
    const location = toSource(path, Number(line), Number(column));
    return location ? `${location.file}:${location.line}:${location.column}` : position;
  });
}
