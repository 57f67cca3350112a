import {
  originalPositionFor,
  type SourceMapInput,
  sourceContentFor,
  TraceMap,
  traceSegment,
} from '@jridgewell/trace-mapping';
import { type Failure, isProductCode, LINE_END, type StackFrame } from '#engine/tracker';
import { CONTEXT_LINES, MAX_CONTEXT_WIDTH, MAX_MAP_BYTES, MAX_MAP_TEXT, MAX_MAPPINGS } from '../../desk-limits.ts';
import type { ResolvedFrame, StoredFailure } from '../../store/records.ts';
import type { BuildFiles, MapText } from './build-files.ts';

/** Reads source maps. The results are only for display. */
export type MapReader = ReturnType<typeof createMapReader>;

export function createMapReader({
  readMap,
  readSource,
  readLocations,
}: Pick<BuildFiles, 'readMap'> & Partial<BuildFiles>) {
  /** Undefined if there is no map, or it cannot be parsed. */
  const loaded = new Map<string, TraceMap | undefined>();
  let loadedBytes = 0;

  async function load(build: string, file: string): Promise<TraceMap | undefined> {
    const key = `${build}/${file}`;
    // A module of `npm run dev` keeps its name when it changes.
    if (loaded.has(key) && !file.startsWith('client/_dev/')) return loaded.get(key);
    const found = await readMap(build, file);
    const size = found?.text.length ?? 0;
    if (loadedBytes + size > MAX_MAP_BYTES) sweep();
    loadedBytes += size;
    loaded.set(key, found && parseMap(found));
    return loaded.get(key);
  }

  function sweep(): void {
    loaded.clear();
    loadedBytes = 0;
  }

  /** Finds the function around a location in a bundle. Stacks have only the minified name. */
  async function findFunction(build: string, frame: StackFrame): Promise<string> {
    const table = await readLocations?.(build);
    return table?.find(frame)?.function || frame.function;
  }

  async function resolveFrame(build: string, frame: StackFrame): Promise<ResolvedFrame> {
    const source = await readSource?.(build, frame.file);
    if (source !== undefined) {
      const name = await findFunction(build, frame);
      return { ...frame, function: name, own: true, context: toContext(source, frame.line) };
    }
    const map = isScript(frame.file) ? await load(build, frame.file) : undefined;
    const location = map && findLocation(map, frame);
    if (!map || !location) return { ...frame, own: isView(frame.file) };
    const own = isProjects(location);
    const name = own ? await findFunction(build, frame) : frame.function;
    const { source: text, ...position } = location;
    const lines = own ? sourceContentFor(map, text) : null;
    return {
      ...frame,
      ...position,
      function: name,
      own,
      context: lines === null ? undefined : toContext(lines, location.line),
    };
  }

  /** Resolves components. Only those of a mismatch get source lines, because the others have an error with a stack. */
  async function resolveComponents({ build, kind, componentStack = '' }: Failure): Promise<ResolvedFrame[]> {
    const components: ResolvedFrame[] = [];
    for (const frame of parseComponentStack(componentStack)) {
      const { context, ...component } = await resolveFrame(build, frame);
      components.push(kind === 'hydration' ? { ...component, context } : component);
    }
    return components;
  }

  return {
    /** Adds the source location to each frame. */
    async resolve(failure: Failure): Promise<StoredFailure> {
      const resolved: ResolvedFrame[][] = [];
      for (const { frames } of failure.errors) {
        const some: ResolvedFrame[] = [];
        for (const frame of frames) some.push(await resolveFrame(failure.build, frame));
        resolved.push(some);
      }
      return { ...failure, resolved, components: await resolveComponents(failure) };
    },
    /** Frees the maps. Call it from time to time. */
    sweep,
  };
}

/** Reports whether a file can be a bundle, or a file of an existing app, which can be a package in an image. */
function isScript(file: string): boolean {
  return /^[^:]*\.[cm]?[jt]s$/.test(file) && !file.includes('..');
}

/** Reports whether a file is a template of the app. There is no map of it. */
function isView(file: string): boolean {
  return /^[^:]+\.\w+$/.test(file) && !/\.\.|\.[cm]?[jt]sx?$/.test(file) && isProductCode(file);
}

/** Reports whether a source is in the project. Files outside begin with `../`, and a plugin's with its name. */
function isProjects({ source, file }: FrameLocation): boolean {
  return source.endsWith(file) && !source.startsWith('../') && !/node_modules\/|:/.test(source);
}

function parseMap({ path, text }: MapText): TraceMap | undefined {
  if (text.length > MAX_MAP_TEXT) return undefined;
  try {
    const map = JSON.parse(text) as SourceMapInput & { mappings?: string };
    return (map.mappings?.length ?? 0) > MAX_MAPPINGS ? undefined : new TraceMap(map, `dist/${path}`);
  } catch {
    return undefined;
  }
}

interface FrameLocation {
  readonly file: string;
  /** The name in the map. */
  readonly source: string;
  /** 1-based, like `column`. */
  readonly line: number;
  readonly column: number;
}

function findLocation(map: TraceMap, { line, column }: StackFrame): FrameLocation | undefined {
  if (line < 1) return undefined;
  const found = originalPositionFor(map, { line, column: toMappedColumn(map, line, Math.max(0, column - 1)) });
  if (found.source === null || found.line === null) return undefined;
  const file = found.source.replace(/^(?:\.\.\/)+/, '');
  return { file, source: found.source, line: found.line, column: (found.column ?? 0) + 1 };
}

/**
 * Adjusts a column for a property that could not be read. V8 reports the position of the dot, and esbuild maps the
 * name after it. If a minifier has joined two lines, the mapping before the dot can belong to the other line.
 *
 * @returns a 0-based column
 */
function toMappedColumn(map: TraceMap, line: number, column: number): number {
  const isMapped = (at: number) => traceSegment(map, line - 1, at)?.[0] === at;
  return !isMapped(column) && isMapped(column + 1) ? column + 1 : column;
}

function toContext(source: string, line: number): NonNullable<ResolvedFrame['context']> {
  const start = Math.max(1, line - CONTEXT_LINES);
  const lines = source.split(LINE_END, line + CONTEXT_LINES).slice(start - 1);
  return { start, lines: lines.map((line) => line.slice(0, MAX_CONTEXT_WIDTH)) };
}

/**
 * Parses React's component stack, innermost first. V8 writes `at Cart (https://…/cart.js:1:200)`, or `at main`
 * for an element. Other JavaScript engines write `Cart@https://…/cart.js:1:200`.
 */
export function parseComponentStack(stack: string): StackFrame[] {
  return stack.split('\n').flatMap((line) => toComponent(line) ?? []);
}

function toComponent(line: string): StackFrame | undefined {
  const [, name, position = ''] = /^\s*at (\S+)(?: \((.*)\))?\s*$/.exec(line) ?? /^\s*([^\s@]+)@(.*)$/.exec(line) ?? [];
  if (name === undefined) return undefined;
  const [, location = '', row = '0', column = '0'] = /^(.*):(\d+):(\d+)$/.exec(position) ?? [];
  const file = toFile(location);
  return { file, line: file === '' ? 0 : Number(row), column: file === '' ? 0 : Number(column), function: name };
}

/**
 * Returns the path of a script in the build. It is read from the end of the location, because scrubbing has
 * removed the folder. Empty for other scripts.
 */
function toFile(location: string): string {
  const asset = /^https?:\/\/[^/?#]+(\/(?:assets|_dev\/modules)\/[^?#]+)/.exec(location)?.[1];
  return asset ? `client${asset}` : (/\/dist(?:-dev)?\/((?:client|server)\/[^?#]+)$/.exec(location)?.[1] ?? '');
}
