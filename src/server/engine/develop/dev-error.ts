import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { basename, join, relative, resolve } from 'node:path';
import type { DevError, DevProblem } from '../../../shared/engine/develop-protocol.ts';
import type { ErrorFacts } from '../errors/digest/read-error.ts';

/** How many lines are shown before and after the one that is meant. */
const AROUND = 3;

/** `at Home (/project/src/shared/product/pages/home.tsx:10:3)`, as V8 writes it and other engines nearly do. */
const FRAME = /(?:at |@)?.*?\(?((?:file:\/\/)?\/[^\s()]*?):(\d+):(\d+)\)?$/;

/** Something thrown, with the first line of source of the project's own that it came through. */
export function toDevError(
  title: string,
  { className = '', message, stack }: Pick<ErrorFacts, 'message' | 'stack'> & Partial<ErrorFacts>,
  componentStack: string | undefined,
  root: string,
): DevError {
  const frames = stack.split('\n').filter((line) => FRAME.test(line));
  const own = frames.map((line) => toOwnPlace(line, root)).find((place) => place !== undefined);
  const problem: DevProblem = {
    text: [className, message].filter(Boolean).join(': '),
    ...own,
    trail: frames.slice(0, 12).map((line) => line.trim().replaceAll(`${root}/`, '').replaceAll('file://', '')),
  };
  const components = componentStack
    ?.split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  if (!components?.length) return { title, problems: [problem] };
  const trail = components.map((line) => line.replaceAll(`${root}/`, '').replaceAll('file://', ''));
  return { title, problems: [problem, { text: 'The components around it, innermost first', trail }] };
}

type Place = Pick<DevProblem, 'file' | 'line' | 'column' | 'open' | 'lines'>;

/** Undefined for a frame of a dependency or of Node. */
function toOwnPlace(line: string, root: string): Place | undefined {
  const [, path = '', row, column] = FRAME.exec(line) ?? [];
  const file = relative(root, path.replace(/^file:\/\//, '')).replaceAll('\\', '/');
  const isOwn = path !== '' && !/^\.\.\/|^dist\/|(?:^|\/)node_modules\/|:/.test(file);
  return isOwn ? toPlace(root, file, Number(row), Number(column)) : undefined;
}

/** What the supervisor says of a build that failed, with the lines of source. */
export function withPlaces(error: DevError, root: string): DevError {
  const problems = error.problems.map((problem) => {
    const { file, line, column } = problem;
    if (file === undefined || line === undefined || column === undefined) return problem;
    return { ...problem, ...toPlace(root, file, line, column) };
  });
  return { ...error, problems };
}

/** @param file relative to the root */
function toPlace(root: string, file: string, line: number, column: number): Place {
  const from = Math.max(1, line - AROUND);
  const link = process.env.EDITOR_LINK ?? 'vscode://file/{file}:{line}:{column}';
  return {
    file,
    line,
    column,
    open: link
      .replace('{file}', encodeURI(join(root, file)))
      .replace('{line}', String(line))
      .replace('{column}', String(column)),
    lines: readRows(join(root, file))
      .slice(from - 1, line + AROUND)
      .map((text, index) => [from + index, text] as const),
  };
}

function readRows(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** Puts places in the source in the place of places in the served scripts, by their maps. */
export function mapAssets(stack: string, dist: string): string {
  const maps = new Map<string, SourceMap | undefined>();
  return stack.replace(/https?:\/\/[^\s)]+?\/assets\/([^\s):?]+\.js):(\d+):(\d+)/g, (place, name, line, column) => {
    const file = join(dist, 'client/assets', basename(name));
    if (!maps.has(file)) maps.set(file, readMap(file));
    const entry = maps.get(file)?.findEntry(Number(line) - 1, Number(column) - 1);
    if (!entry || !('originalSource' in entry)) return place;
    const source = resolve(join(dist, 'client/assets'), String(entry.originalSource));
    return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  });
}

function readMap(file: string): SourceMap | undefined {
  try {
    const { sourceRoot: _, ...map } = JSON.parse(readFileSync(`${file}.map`, 'utf8'));
    return new SourceMap(map);
  } catch {
    return undefined; // what is not ours has no map
  }
}
