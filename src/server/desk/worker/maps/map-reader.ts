import { originalPositionFor, sourceContentFor, TraceMap, traceSegment } from '@jridgewell/trace-mapping';
import type { Failure, StackFrame } from '../../../engine/errors/failure.ts';
import { CONTEXT_LINES, MAP_IDLE_TIME, MAX_CONTEXT_WIDTH, MAX_MAP_BYTES } from '../../limits.ts';
import type { ResolvedFrame, StoredFailure } from '../../store/records.ts';
import { parseComponentStack } from './component-stack.ts';

/** Reads source maps, for display alone. */
export type MapReader = ReturnType<typeof createMapReader>;

interface MapReaderOptions {
  /** @param file as a frame names it: `server/main.js` */
  readonly readMap: (build: string, file: string) => Promise<MapText | undefined>;
  /** The function around a place in a bundle, from the build's table of sites. */
  readonly findFunction?: (build: string, frame: StackFrame) => Promise<string | undefined>;
  readonly maxBytes?: number;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

export interface MapText {
  /** Within `dist`: what the paths in the map are relative to. */
  readonly path: string;
  readonly text: string;
}

interface LoadedMap {
  /** Undefined where there is none, or none that can be read. */
  readonly map: TraceMap | undefined;
  readonly bytes: number;
  usedAt: number;
}

/** Frames of one error that are looked up (a count). */
const MAX_FRAMES = 50;

export function createMapReader(options: MapReaderOptions) {
  const { readMap, findFunction, maxBytes = MAX_MAP_BYTES, now = () => performance.now() } = options;
  /** The one used last stands last. */
  const loaded = new Map<string, LoadedMap>();

  async function load(build: string, file: string): Promise<TraceMap | undefined> {
    const key = `${build}/${file}`;
    const entry = loaded.get(key) ?? (await read(build, file));
    loaded.delete(key);
    loaded.set(key, entry);
    entry.usedAt = now();
    shrink();
    return entry.map;
  }

  async function read(build: string, file: string): Promise<LoadedMap> {
    const found = await readMap(build, file);
    return { map: found && parseMap(found), bytes: found?.text.length ?? 0, usedAt: 0 };
  }

  /** The one that was asked for stays, however large it is. */
  function shrink(): void {
    let bytes = [...loaded.values()].reduce((sum, entry) => sum + entry.bytes, 0);
    for (const [key, entry] of loaded) {
      if (bytes <= maxBytes || loaded.size === 1) break;
      loaded.delete(key);
      bytes -= entry.bytes;
    }
  }

  async function resolveFrame(build: string, frame: StackFrame): Promise<ResolvedFrame> {
    const map = isScript(frame.file) ? await load(build, frame.file) : undefined;
    const place = map && findPlace(map, frame);
    if (!map || !place) return { ...frame, own: false };
    const own = isOwn(place);
    const name = own ? await findFunction?.(build, frame) : undefined;
    const context = own ? readContext(map, place) : undefined;
    return {
      file: place.file,
      line: place.line,
      column: place.column,
      function: name ?? frame.function,
      own,
      ...(frame.async && { async: frame.async }),
      ...(context && { context }),
    };
  }

  /** Without lines of source: where a component is, is enough. */
  async function resolveComponents({ build, componentStack = '' }: Failure): Promise<ResolvedFrame[]> {
    const components: ResolvedFrame[] = [];
    for (const frame of parseComponentStack(componentStack)) {
      const { context: _context, ...component } = await resolveFrame(build, frame);
      components.push(component);
    }
    return components;
  }

  return {
    /** Adds the place in the source to each frame. */
    async resolve(failure: Failure): Promise<StoredFailure> {
      const resolved: ResolvedFrame[][] = [];
      for (const { frames } of failure.errors) {
        const some: ResolvedFrame[] = [];
        for (const frame of frames.slice(0, MAX_FRAMES)) some.push(await resolveFrame(failure.build, frame));
        resolved.push(some);
      }
      const components = await resolveComponents(failure);
      return { ...failure, resolved, ...(components.length > 0 && { components }) };
    },
    /** Frees maps that were not used lately. */
    sweep() {
      for (const [key, { usedAt }] of loaded) {
        if (now() - usedAt > MAP_IDLE_TIME) loaded.delete(key);
      }
    },
  };
}

/** A bundle, or a file of an existing app. */
function isScript(file: string): boolean {
  return /^(?!node_modules\/)[^:]*\.[cm]?[jt]s$/.test(file) && !file.includes('..');
}

/** Of the project: what is elsewhere on the machine begins with `../`, and what a plugin made with its name. */
function isOwn({ source, file }: Place): boolean {
  return source.endsWith(file) && !source.startsWith('../') && !/node_modules\/|:/.test(source);
}

function parseMap({ path, text }: MapText): TraceMap | undefined {
  try {
    return new TraceMap(text, `dist/${path}`);
  } catch {
    return undefined;
  }
}

interface Place {
  readonly file: string;
  /** As the map has it. */
  readonly source: string;
  /** From 1, both. */
  readonly line: number;
  readonly column: number;
}

function findPlace(map: TraceMap, { line, column }: StackFrame): Place | undefined {
  if (line < 1) return undefined;
  const found = originalPositionFor(map, { line, column: toMappedColumn(map, line, Math.max(0, column - 1)) });
  if (found.source === null || found.line === null) return undefined;
  const file = found.source.replace(/^(?:\.\.\/)+/, '');
  return { file, source: found.source, line: found.line, column: (found.column ?? 0) + 1 };
}

/**
 * V8 names the dot before a property that could not be read, and esbuild maps the name behind it. Once a minifier
 * has joined two lines, what is mapped before the dot may be of the other line.
 *
 * @returns from 0
 */
function toMappedColumn(map: TraceMap, line: number, column: number): number {
  const isMapped = (at: number) => traceSegment(map, line - 1, at)?.[0] === at;
  return !isMapped(column) && isMapped(column + 1) ? column + 1 : column;
}

function readContext(map: TraceMap, place: Place): ResolvedFrame['context'] {
  const source = sourceContentFor(map, place.source);
  if (source === null) return undefined;
  const start = Math.max(1, place.line - CONTEXT_LINES);
  const lines = source.split('\n', place.line + CONTEXT_LINES).slice(start - 1);
  return { start, lines: lines.map((line) => line.replace(/\r$/, '').slice(0, MAX_CONTEXT_WIDTH)) };
}
