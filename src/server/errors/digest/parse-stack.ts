import { MAX_REPORTED_FRAMES } from '../../../shared/limits.ts';
import { KiB } from '../../../shared/units.ts';
import { MAX_FUNCTION_LENGTH } from '../../limits.ts';
import { decodePercent } from '../../request/paths.ts';
import type { StackFrame } from '../failure.ts';

// The engines write stacks in two shapes, neither of which is specified:
//   V8                       `    at async Cart.checkout (https://shop.example/assets/main.js:1:200)`
//   SpiderMonkey and JSC     `async*checkout@https://shop.example/assets/main.js:1:200`
// Frames are read by position from the end of each line, because names and paths can contain anything.

/** The parts of a stack, and of one line, that are read (UTF-16 code units). */
const MAX_STACK_LENGTH = 64 * KiB;
const MAX_LINE_LENGTH = 2 * KiB;

const V8_LINE = /^[ \t]*at /;

/**
 * Returns the frames of a stack, from the throw outwards. Other lines are ignored. The time is bounded for any text.
 *
 * @param message the error's, which V8 writes before the frames: its lines that look like frames are skipped
 */
export function parseStack(stack: string, paths: FramePaths, message = ''): StackFrame[] {
  const lines = skipMessage(stack, message).split('\n', 2 * MAX_REPORTED_FRAMES);
  const isV8 = lines.some((line) => V8_LINE.test(line));
  const frames: StackFrame[] = [];
  for (const line of lines) {
    if (line.length > MAX_LINE_LENGTH) continue;
    const frame = isV8 ? parseV8Line(line, paths) : parseGeckoLine(line, paths);
    if (frame) frames.push(frame);
    if (frames.length === MAX_REPORTED_FRAMES) break;
  }
  return frames;
}

function skipMessage(stack: string, message: string): string {
  // The message follows the class in the first line; further down it could be a part of a path.
  const at = message === '' ? -1 : stack.slice(0, 1 * KiB + message.length).indexOf(message);
  const isHeader = at >= 0 && !stack.slice(0, at).includes('\n') && !stack.slice(0, at).includes('@');
  const start = isHeader ? at + message.length : 0;
  return stack.slice(start, start + MAX_STACK_LENGTH);
}

function parseV8Line(line: string, paths: FramePaths): StackFrame | undefined {
  if (!V8_LINE.test(line)) return undefined;
  const text = line.trim().slice('at '.length);
  const isAsync = text.startsWith('async ');
  const rest = isAsync ? text.slice('async '.length) : text;
  const open = rest.endsWith(')') ? findOpening(rest) : -1;
  if (open < 0) {
    // Only a place, or only a name (`at <anonymous>`, `at native`).
    const place = toPlace(rest);
    return toFrame('', place.line > 0 ? place : NOWHERE, isAsync, paths);
  }
  const location = rest.slice(open + 1, -1);
  return toFrame(rest.slice(0, open).trim(), toPlace(toEvalOrigin(location)), isAsync, paths);
}

/** Finds the bracket that the last character closes: paths can contain brackets too. */
function findOpening(text: string): number {
  let depth = 0;
  for (let at = text.length - 1; at >= 0; at -= 1) {
    if (text[at] === ')') depth += 1;
    else if (text[at] === '(' && --depth === 0) return at;
  }
  return -1;
}

/** `eval at run (/app/x.js:1:2), <anonymous>:1:1`: the place where the outermost text was evaluated. */
function toEvalOrigin(location: string): string {
  if (!location.startsWith('eval at ')) return location;
  const end = location.lastIndexOf('), <anonymous>');
  if (end < 0) return '';
  let start = end;
  while (start > 0 && location[start - 1] !== '(') start -= 1;
  return location.slice(start, end).replace(/(?<!\))\)+$/, '');
}

/** The prefix that SpiderMonkey gives a frame that only waits: `async*`, `promise callback*`, `setTimeout handler*`. */
const ASYNC_CAUSE = /^(?:async|promise callback|[\w. ]{1,60} handler|[\w. ]{1,60} callback)\*/;

function parseGeckoLine(line: string, paths: FramePaths): StackFrame | undefined {
  const text = line.trim();
  const at = text.indexOf('@');
  if (at < 0) return parseBareLine(text, paths);
  const cause = ASYNC_CAUSE.exec(text)?.[0] ?? '';
  const name = text.slice(cause.length, Math.max(at, cause.length));
  const location = text.slice(at + 1);
  // ` line 3 > eval:1:2`: where the outermost text was evaluated.
  const evaluated = / line (\d{1,9}) > /.exec(location);
  const place = evaluated
    ? { file: location.slice(0, evaluated.index), line: Number(evaluated[1]), column: 0 }
    : toPlace(location);
  if (place.line === 0 && !location.startsWith('[')) return undefined;
  return toFrame(name, place, cause !== '', paths);
}

/** JSC leaves out a missing name, so the line is only a place. */
function parseBareLine(text: string, paths: FramePaths): StackFrame | undefined {
  const place = toPlace(text);
  return place.line > 0 && /^(?:[a-z-]+:)?\//i.test(text) ? toFrame('', place, false, paths) : undefined;
}

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

const NOWHERE: Place = { file: '', line: 0, column: 0 };

/** `file:line:column`, `file:line` or `file`. */
function toPlace(location: string): Place {
  // WebAssembly: `https://x.example/a.wasm:wasm-function[3]:0x1a`.
  const wasm = location.indexOf(':wasm-function[');
  if (wasm >= 0) return { file: location.slice(0, wasm), line: 0, column: 0 };
  const [, file = '', line = 0, column = 0] = /^(.*?)(?::(\d{1,9}))?(?::(\d{1,9}))?$/s.exec(location) ?? [];
  return { file, line: Number(line), column: Number(column) };
}

function toFrame(name: string, place: Place, isAsync: boolean, paths: FramePaths): StackFrame {
  const file = toFrameFile(place.file, paths);
  const frame = { file, line: place.line, column: place.column, function: name.slice(0, MAX_FUNCTION_LENGTH) };
  return isAsync ? { ...frame, async: true } : frame;
}

export interface FramePaths {
  /** The folder of the build, absolute. The folder around it is the project. */
  readonly dist: string;
  /** Origins of our own assets, such as `https://shop.example`; any origin if left out. */
  readonly origins?: readonly string[];
}

/**
 * Returns the name of a script for a `StackFrame`: a path within `dist` for our bundles, `src/…` for a file that runs
 * unbuilt, `node_modules/…`, `node:fs`, or origin and path of a foreign script. Empty if there is no file. Never an
 * absolute path of this machine, and never a query.
 *
 * @param location as an engine writes it, without line and column
 */
export function toFrameFile(location: string, { dist, origins }: FramePaths): string {
  const plain = location.replaceAll('\\', '/');
  if (plain === '' || plain.startsWith('<') || plain.startsWith('[')) return '';
  if (plain.startsWith('node:')) return plain;
  if (plain.startsWith('file:') || plain.startsWith('/') || /^[A-Za-z]:\//.test(plain)) {
    return toLocalFile(plain, dist.replaceAll('\\', '/').replace(/\/$/, ''));
  }
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(plain) ? toForeignFile(plain, origins) : '';
}

function toLocalFile(location: string, dist: string): string {
  const path = toPath(location);
  if (path.startsWith(`${dist}/`)) return withoutSlashes(path.slice(dist.length));
  const dependency = path.lastIndexOf('/node_modules/');
  if (dependency >= 0) return path.slice(dependency + 1);
  const root = dist.slice(0, dist.lastIndexOf('/') + 1);
  if (path.startsWith(root)) return withoutSlashes(path.slice(root.length));
  return `../${path.slice(path.lastIndexOf('/') + 1)}`;
}

/** Removes leading slashes: they can be doubled, and the result must not look like an absolute path. */
function withoutSlashes(path: string): string {
  return path.replace(/^\/+/, '');
}

/** Converts a `file:` URL or a path, and drops the query, which development servers add. */
function toPath(location: string): string {
  const end = location.search(/[?#]/);
  const path = end < 0 ? location : location.slice(0, end);
  if (!path.startsWith('file:')) return path;
  const local = path.replace(/^file:(?:\/\/[^/]*)?/, '');
  const decoded = decodePercent(local) ?? local;
  return /^\/[A-Za-z]:\//.test(decoded) ? decoded.slice(1) : decoded;
}

/** Reports whether this server serves scripts at a URL's path. `npm run dev` serves the product's modules one by one. */
export function isServedScript(path: string): boolean {
  return /^\/(?:assets|_dev\/modules)\//.test(path);
}

function toForeignFile(location: string, origins: readonly string[] | undefined): string {
  const [, origin = '', path = ''] = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)([^?#]*)/i.exec(location) ?? [];
  if (!/^https?:/i.test(origin)) return origin + path;
  if (origins && !origins.includes(origin.toLowerCase())) return origin + path;
  if (isServedScript(path)) return `client${path}`;
  // An inline script: its path is the page's and says nothing about the script.
  return origins && !/\.m?js$/.test(path) ? '' : origin + path;
}

/** Where a line of JavaScript ends, for engines and in source maps. */
export const LINE_END = /\r\n|[\n\r\u2028\u2029]/;
