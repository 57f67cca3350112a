import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import {
  decodeVlq,
  FLAGS,
  HELPER_FILE,
  HELPER_NAME,
  LOCATION_LENGTH,
  TABLE_FILE,
  VERSION,
} from '../../../shared/location-format.mjs';
import { isProductCode } from '../../../shared/whose-code.mjs';
import type { FrameLocation, StackFrame } from '../failure.ts';

/** Whose code a location is in. The engine is a framework: failures are looked for in the code that calls it. */
type CodeOwner = 'product' | 'engine' | 'dependency';

export interface FoundLocation extends FrameLocation {
  readonly owner: CodeOwner;
  /** First line of the function, or of the statement if there is a detail; from 1, or 0 if unknown. */
  readonly line: number;
  /**
   * The kind of `detail`: an error that is thrown or made, a call of a native function that throws without saying
   * where, or nothing.
   */
  readonly kind: 'thrown' | 'call' | '';
  /** Belongs to an error class, whose constructors appear only in the stacks of some engines. */
  readonly isErrorClass: boolean;
  /** Throws for its caller, like `invariant`. */
  readonly isHelper: boolean;
  /** Its names when its failures were first seen, if it has moved since (`moves.json`). Digests use these names. */
  readonly first?: FrameLocation;
}

export interface LocationTable {
  /** Finds the location of a frame in one of our bundles, in a source file that runs unbuilt, or in a dependency. */
  find(frame: StackFrame): FoundLocation | undefined;
  /**
   * Finds a function by the end of its qualified name, such as `loader` of `order.loader`, in the source file of a frame
   * and after it. Only in a bundle.
   */
  findFunction(after: StackFrame, name: string): StackFrame | undefined;
  /** True if the table knows the bundle. Nothing is known about frames in other bundles. */
  has(file: string): boolean;
  /** False if the source file does not contain the name, so that it is data. True if the names are not known. */
  isWritten(path: string, property: string): boolean;
}

/** Returns the names that a digest is made from. */
export function toFirst(location: FoundLocation): FrameLocation {
  return location.first ?? location;
}

interface TableFile {
  readonly version: number;
  readonly strings: readonly string[];
  readonly sites: readonly number[];
  /** By the index of a location. */
  readonly firstNames: Readonly<Record<number, FrameLocation>>;
  readonly properties: Readonly<Record<string, string>>;
  readonly bundles: Readonly<Record<string, string>>;
}

/** Knows no bundles, only source files and dependencies by their names. */
export const emptyLocationTable: LocationTable = {
  find: (frame) => toPlainLocation(frame),
  findFunction: () => undefined,
  has: () => false,
  isWritten: () => true,
};

/**
 * @param json of `dist/sites.json`
 * @throws Error if it has another version or is not a table
 */
export function parseLocationTable(json: string): LocationTable {
  const file = JSON.parse(json) as TableFile; // written by the build of the same release
  if (file.version !== VERSION) {
    throw new Error(
      `The table of locations has version ${file.version}, and this server reads ${VERSION}. Build again.`,
    );
  }
  const { strings, sites, firstNames, properties, bundles } = file;
  const findPositions = rememberOwn(bundles, decodePositions);
  const findNames = rememberOwn(properties, (text) => new Set(text.split(' ')));

  function toFrameLocation(index: number): FoundLocation | undefined {
    if (index === 0) return undefined;
    const [path = 0, fn = 0, detail = 0, line = 0, flags = 0] = sites.slice(
      index * LOCATION_LENGTH,
      (index + 1) * LOCATION_LENGTH,
    );
    const name = strings[path] ?? '';
    return {
      path: name,
      function: strings[fn] ?? '',
      detail: strings[detail] ?? '',
      line,
      owner: toOwner(name),
      kind: flags & FLAGS.thrown ? 'thrown' : flags & FLAGS.call ? 'call' : '',
      isErrorClass: (flags & FLAGS.errorClass) !== 0,
      isHelper: (flags & FLAGS.helper) !== 0,
      first: firstNames[index],
    };
  }

  return {
    find(frame) {
      const bundle = findPositions(frame.file);
      return bundle ? toFrameLocation(readLocation(bundle, findPosition(bundle, frame))) : toPlainLocation(frame);
    },
    findFunction(after, name) {
      const bundle = findPositions(after.file) ?? NO_POSITIONS;
      const start = findPosition(bundle, after);
      const path = toFrameLocation(readLocation(bundle, start))?.path;
      for (let at = start; at < bundle.length; at += 3) {
        const location = toFrameLocation(readLocation(bundle, at));
        if (!location) continue;
        if (location.path !== path) break;
        if (!`.${location.function}.`.includes(`.${name}.`)) continue;
        const [line = 0, column = 0] = bundle.subarray(at);
        return { file: after.file, line: line + 1, column: column + 1, function: location.function };
      }
      return undefined;
    },
    has: (name) => Object.hasOwn(bundles, name),
    isWritten: (path, property) => findNames(path)?.has(property) ?? true,
  };
}

/** Returns a function that decodes the texts of a table when they are needed, once each. */
function rememberOwn<Value>(texts: Readonly<Record<string, string>>, decode: (text: string) => Value) {
  const decoded = new Map<string, Value>();
  return function find(name: string): Value | undefined {
    const text = decoded.has(name) || !Object.hasOwn(texts, name) ? undefined : texts[name];
    if (text !== undefined) decoded.set(name, decode(text));
    return decoded.get(name);
  };
}

/** Line, column and location of each position where another location begins, three numbers each, in ascending order. */
type Positions = Uint32Array;

function decodePositions(text: string): Positions {
  const numbers = decodeVlq(text);
  let [line, column, location] = [0, 0, 0];
  for (let at = 0; at + 2 < numbers.length; at += 3) {
    const lines = numbers[at] ?? 0;
    line += lines;
    column = (lines === 0 ? column : 0) + (numbers[at + 1] ?? 0);
    location += numbers[at + 2] ?? 0;
    numbers[at] = line;
    numbers[at + 1] = column;
    numbers[at + 2] = location;
  }
  return Uint32Array.from(numbers);
}

const NO_POSITIONS: Positions = new Uint32Array();

/** Returns the index of the last position at or before a frame, negative if there is none. */
function findPosition(positions: Positions, frame: StackFrame): number {
  const line = frame.line - 1;
  const column = Math.max(0, frame.column - 1);
  let low = 0;
  let high = positions.length / 3;
  while (low < high) {
    const middle = (low + high) >> 1;
    const middleLine = positions[middle * 3] ?? 0;
    const isAfter = middleLine > line || (middleLine === line && (positions[middle * 3 + 1] ?? 0) > column);
    if (isAfter) high = middle;
    else low = middle + 1;
  }
  return (low - 1) * 3;
}

/** @returns the index of a location, 0 if there is none */
function readLocation(positions: Positions, at: number): number {
  return positions[at + 2] ?? 0;
}

/** True for a bundle of a build: `server/main.js`, `client/assets/home-X7K2QM2X.js`. */
export function isBundle(file: string): boolean {
  return /^(?:client|server)\//.test(file);
}

/** Scripts in `client` and `server` are bundles. TypeScript there is of a workspace with such folders. */
const SOURCE = /^(?!node_modules\/)(?:[^:]+\.[cm]?tsx?|(?!(?:client|server)\/)[^:]+\.[cm]?jsx?)$/;

/** True for a file of the project that runs unbuilt: in development, in tests, and in an existing app. */
export function isSource(file: string): boolean {
  return SOURCE.test(file) && !file.split('/').includes('..');
}

/** Makes a location from the frame itself: a source file that runs unbuilt, with the engine's name of the function. */
function toPlainLocation({ file, line, function: name }: StackFrame): FoundLocation | undefined {
  const isPlain = isSource(file);
  if (!isPlain && !file.startsWith('node_modules/')) return undefined;
  const path = isPlain ? file : toPackage(file);
  const called = isPlain ? toFunctionName(name) : '';
  return {
    path,
    function: called,
    detail: '',
    line,
    owner: toOwner(path),
    kind: '',
    isErrorClass: false,
    isHelper: isPlain && (HELPER_FILE.test(file) || HELPER_NAME.test(called.slice(called.lastIndexOf('.') + 1))),
  };
}

function toPackage(file: string): string {
  const [folder, scope = '', name = ''] = file.split('/');
  return scope.startsWith('@') ? `${folder}/${scope}/${name}` : `${folder}/${scope}`;
}

function toFunctionName(name: string): string {
  return name
    .replace(/^new /, '')
    .replace(/ \[as [^\]]{0,200}\]$/, '')
    .replace(/^(?:Object|Module|Function|async)\.(?=.)/, '')
    .replace(/(?:\/?<|\.?<anonymous>){1,200}$/, '');
}

function toOwner(path: string): CodeOwner {
  if (path.startsWith('node_modules/')) return 'dependency';
  return isProductCode(path) ? 'product' : 'engine';
}

/**
 * Loads the table of the running build. There is none in tests, where stacks name the source files themselves.
 *
 * @param dist the folder of the build
 * @throws Error if the table is from another release
 */
export function loadLocationTable(dist: string): LocationTable {
  let json: string;
  try {
    json = readFileSync(join(dist, TABLE_FILE), 'utf8');
  } catch {
    return emptyLocationTable;
  }
  return parseLocationTable(json);
}

/**
 * Loads the table of the running build for the first failure. It reads synchronously, because React needs the address
 * of a failure immediately. If the table cannot be read, digests are made from messages.
 *
 * @param dist the folder of the build
 */
export function createTableLoader(dist: string, log: Pick<Logger, 'warn'>): () => LocationTable {
  let table: LocationTable | undefined;

  function load(): LocationTable {
    try {
      return loadLocationTable(dist);
    } catch (error) {
      log.warn({ err: error }, 'The table of source positions (dist/sites.json) cannot be read. Build again.');
      return emptyLocationTable;
    }
  }

  return function getLocationTable() {
    table ??= load();
    return table;
  };
}
