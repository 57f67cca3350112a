import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { causesOf } from '../../../shared/reporting/causes.ts';
import { readProperty } from '../../../shared/reporting/read-property.ts';
import { KiB } from '../../../shared/units.ts';
import { MAX_CLASS_LENGTH, MAX_FUNCTION_LENGTH, MAX_MESSAGE_LENGTH, MAX_REPORTED_FRAMES } from '../../limits.ts';
import { isError } from '../../request/http-error.ts';
import { decodePercent } from '../../request/paths.ts';
import type { ErrorRecord, StackFrame } from '../failure.ts';
import { cutAtWord } from '../trim.ts';

/** The part of a stack's frames that is logged (UTF-16 code units). */
const MAX_FRAMES_LENGTH = 16 * KiB;
/** How far a cut can move back to the end of a word (UTF-16 code units): digests read less than what is left. */
const MAX_MESSAGE_CUT = MAX_MESSAGE_LENGTH - 300;
/** Errors of an `AggregateError` that are read (count). */
const MAX_READ_MEMBERS = 100;

/** What a thrown object without a message is called. Its content follows, which digests do not read. */
export const OBJECT = 'an object that is no Error';
/** The part of such an object that is shown. */
const BRIEF = { depth: 1, maxArrayLength: 10, maxStringLength: 100 };

/**
 * Returns the text of a thrown value for the log. `stack` is class, message and frames as the engine wrote them,
 * shortened. Never throws, not even for a Proxy, a throwing getter or a stack of a megabyte.
 */
export function readError(error: unknown) {
  if (!isError(error)) {
    const message = describe(error);
    return { message, stack: message };
  }
  const message = cutMessage(readString(error, 'message'));
  const stack = readString(error, 'stack');
  const start = stack.indexOf('\n    at ');
  const frames = start < 0 ? '' : stack.slice(start + 1, start + 1 + MAX_FRAMES_LENGTH);
  return { message, stack: `${readClass(error)}: ${message}\n${frames}` };
}

/** Reads a thrown value and its causes, outermost first. Never throws, and always returns at least one entry. */
export function readErrors(thrown: unknown, paths: FramePaths): ErrorRecord[] {
  const [first, ...causes] = causesOf(thrown, isError);
  return [toRecord(first, paths), ...causes.map((cause) => toRecord(cause, paths))];
}

function toRecord(value: unknown, paths: FramePaths): ErrorRecord {
  if (!isError(value)) return { class: 'NonError', message: describe(value), ...readCode(value), frames: [] };
  const message = readString(value, 'message');
  return {
    class: readClass(value),
    message: cutMessage(message),
    ...readCode(value),
    frames: parseStack(readString(value, 'stack'), paths, message),
    ...readMembers(value),
  };
}

function readClass(error: unknown): string {
  return readString(error, 'name').slice(0, MAX_CLASS_LENGTH) || 'Error';
}

/** Reads a code of a system, Node or SQL: `ECONNREFUSED`, `ERR_INVALID_URL`, `23505`. Anything else can be data. */
function readCode(value: unknown): { code?: string } {
  const code = readString(value, 'code');
  return /^(?:[A-Z][A-Z0-9_]{2,59}|[0-9A-Z]{5})$/.test(code) ? { code } : {};
}

function readMembers(error: unknown): { members?: string[] } {
  const members = readProperty(error, 'errors');
  try {
    if (readClass(error) !== 'AggregateError' || !Array.isArray(members)) return {};
    const classes = members.slice(0, MAX_READ_MEMBERS).map((one) => (isError(one) ? readClass(one) : 'NonError'));
    return { members: [...new Set(classes)].sort() };
  } catch {
    return {}; // a Proxy around an array
  }
}

function readString(value: unknown, key: string): string {
  const text = readProperty(value, key);
  return typeof text === 'string' ? text : '';
}

function describe(value: unknown): string {
  if (typeof value === 'string') return cutMessage(value);
  if (typeof value === 'object' && value !== null) {
    return cutMessage(readString(value, 'message') || `${OBJECT}${toLine(value)}`);
  }
  return typeof value === 'function' ? 'a function' : cutMessage(String(value));
}

/** Never runs code of the object. */
function toLine(value: object): string {
  try {
    return `: ${inspect(value, { ...BRIEF, breakLength: Number.POSITIVE_INFINITY, customInspect: false })}`;
  } catch {
    return '';
  }
}

function cutMessage(message: string): string {
  return cutAtWord(message, MAX_MESSAGE_LENGTH, MAX_MESSAGE_CUT);
}

// A line is `    at async Cart.checkout (file:///app/dist/server/main.js:1:200)`. It is read by position from its end, because
// names and paths can contain anything. Browsers parse their own stacks before they report them.

/** The parts of a stack, and of one line, that are read (UTF-16 code units). */
const MAX_STACK_LENGTH = 64 * KiB;
const MAX_LINE_LENGTH = 2 * KiB;

/**
 * Returns the frames of a stack of V8, from the throw outwards. Other lines are ignored. The time is bounded for any text.
 *
 * @param message the error's, which is before the frames: its lines that look like frames are skipped
 */
export function parseStack(stack: string, paths: FramePaths, message = ''): StackFrame[] {
  const lines = skipMessage(stack, message).split('\n', 2 * MAX_REPORTED_FRAMES);
  return lines
    .filter((line) => line.length <= MAX_LINE_LENGTH && /^[ \t]*at /.test(line))
    .slice(0, MAX_REPORTED_FRAMES)
    .map((line) => parseLine(line.trim().slice('at '.length), paths));
}

function skipMessage(stack: string, message: string): string {
  // The message follows the class in the first line; further down it could be a part of a path.
  const at = message === '' ? -1 : stack.slice(0, 1 * KiB + message.length).indexOf(message);
  const isHeader = at >= 0 && !stack.slice(0, at).includes('\n');
  const start = isHeader ? at + message.length : 0;
  return stack.slice(start, start + MAX_STACK_LENGTH);
}

function parseLine(text: string, paths: FramePaths): StackFrame {
  const isAsync = text.startsWith('async ');
  const rest = isAsync ? text.slice('async '.length) : text;
  const open = rest.endsWith(')') ? findOpening(rest) : -1;
  if (open < 0) {
    // Only a location, or only a name (`at <anonymous>`, `at native`).
    const location = toLocation(rest);
    return toFrame('', location.line > 0 ? location : NOWHERE, isAsync, paths);
  }
  const location = rest.slice(open + 1, -1);
  return toFrame(rest.slice(0, open).trim(), toLocation(location), isAsync, paths);
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

interface FrameLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

const NOWHERE: FrameLocation = { file: '', line: 0, column: 0 };

/** `file:line:column`, `file:line` or `file`. */
function toLocation(text: string): FrameLocation {
  const [, file = '', line = 0, column = 0] = /^(.*?)(?::(\d{1,9}))?(?::(\d{1,9}))?$/s.exec(text) ?? [];
  return { file, line: Number(line), column: Number(column) };
}

function toFrame(name: string, location: FrameLocation, isAsync: boolean, paths: FramePaths): StackFrame {
  const file = toFrameFile(location.file, paths);
  const frame = { file, line: location.line, column: location.column, function: name.slice(0, MAX_FUNCTION_LENGTH) };
  return isAsync ? { ...frame, async: true } : frame;
}

/** `/app/views/cart.ejs:3` (EJS, Pug), `(/app/views/cart.njk) [Line 3, Column 7]` (Nunjucks), and then more lines. */
const VIEW =
  /^\(?((?:[A-Za-z]:)?[\\/][^\n()]{1,300}?)(?::(\d{1,6})(?::\d{1,6})?|\) \[Line (\d{1,6}), Column \d{1,6}\])\n/;

/** Returns the line of the project's view that failed: template engines name it only in the message. */
export function readView(error: unknown, paths: FramePaths): StackFrame | undefined {
  const [, path = '', line, other] = VIEW.exec(readString(error, 'message').slice(0, MAX_LINE_LENGTH)) ?? [];
  const file = toFrameFile(path, paths);
  if (/^(?:$|\.\.\/|node_modules\/)/.test(file)) return undefined;
  return { file, line: Number(line ?? other), column: 1, function: '' };
}

export interface FramePaths {
  /** The folder of the build, absolute. The folder around it is the project. */
  readonly dist: string;
}

/**
 * Returns the name of a script for a `StackFrame`: a path within `dist` for our bundles, `src/…` for a file that runs
 * unbuilt, `packages/ui/…` for one in another folder of the workspace, `node_modules/…`, `node:fs`, or origin and path
 * of a foreign script. Empty if there is no file. Never an absolute path of this machine, and never a query.
 *
 * @param location as an engine writes it, without line and column
 */
export function toFrameFile(location: string, { dist }: FramePaths): string {
  const plain = location.replaceAll('\\', '/');
  if (plain === '' || plain.startsWith('<') || plain.startsWith('[')) return '';
  if (plain.startsWith('node:')) return plain;
  if (plain.startsWith('file:') || plain.startsWith('/') || /^[A-Za-z]:\//.test(plain)) {
    return toLocalFile(plain, toFolder(dist));
  }
  const [, origin, path = ''] = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)([^?#]*)/i.exec(plain) ?? [];
  return origin === undefined ? '' : origin + path;
}

function toLocalFile(location: string, dist: string): string {
  const path = toPath(location);
  if (path.startsWith(`${dist}/`)) return withoutSlashes(path.slice(dist.length));
  const dependency = path.lastIndexOf('/node_modules/');
  if (dependency >= 0) return path.slice(dependency + 1);
  const folders = listFolders(dist);
  const folder = folders.find((one) => path.startsWith(one));
  if (folder !== undefined) return withoutSlashes(path.slice(folder.length));
  return `../${path.slice(path.lastIndexOf('/') + 1)}`;
}

/** Returns where the source file of a frame is. @param file relative to the project or its workspace */
export function toSourcePath(file: string, { dist }: FramePaths): string {
  const paths = listFolders(toFolder(dist)).map((folder) => join(folder, file));
  return paths.find((path) => existsSync(path)) ?? join(dist, '..', file);
}

function toFolder(dist: string): string {
  return dist.replaceAll('\\', '/').replace(/\/$/, '');
}

/** Lists the folders of the project and of its workspace, with a slash at the end. An image has only the first. */
function listFolders(dist: string): string[] {
  const root = dist.slice(0, dist.lastIndexOf('/') + 1);
  const own = process.env.SPILLWAY_FOLDER; // `apps/web/`, from the build
  return own && root.endsWith(`/${own}`) ? [root, root.slice(0, -own.length)] : [root];
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
