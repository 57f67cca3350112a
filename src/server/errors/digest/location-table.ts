import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { isProductCode } from '../../../shared/whose-code.mjs';
import { waitUntilBuilt } from '../../request/unfinished-build.ts';
import type { FrameLocation, StackFrame } from '../failure.ts';

/** Whose code a location is in. The engine is a framework: failures are looked for in the code that calls it. */
export type Home = 'own' | 'engine' | 'dependency';

export interface FoundLocation extends FrameLocation {
  readonly home: Home;
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
  /** True if the table knows the bundle. Nothing is known about frames in other bundles. */
  has(file: string): boolean;
  /** False if the source file does not contain the name, so that it is data. True if the names are not known. */
  isWritten(path: string, property: string): boolean;
}

/** Returns the names that a digest is made from. */
export function toFirst(location: FoundLocation): FrameLocation {
  return location.first ?? location;
}

/** Changes with the format of `dist/sites.json`, which `build/sites.mjs` writes. */
const VERSION = 1;

const FLAG = { errorClass: 1, helper: 2, thrown: 4, call: 8 } as const;
/** Numbers of one location in `sites`: path, function, detail, line, flags. */
const SITE_LENGTH = 5;

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
    throw new Error(`The table of sites has version ${file.version}, and this server reads ${VERSION}. Build again.`);
  }
  const { strings, sites, firstNames, properties, bundles } = file;
  const places = new Map<string, Places>();
  const names = new Map<string, ReadonlySet<string>>();

  function placesOf(name: string): Places | undefined {
    const known = places.get(name);
    if (known) return known;
    const text = Object.hasOwn(bundles, name) ? bundles[name] : undefined;
    if (text === undefined) return undefined;
    const decoded = decodePlaces(text);
    places.set(name, decoded);
    return decoded;
  }

  function toFrameLocation(index: number): FoundLocation | undefined {
    if (index === 0) return undefined;
    const [path = 0, fn = 0, detail = 0, line = 0, flags = 0] = sites.slice(
      index * SITE_LENGTH,
      (index + 1) * SITE_LENGTH,
    );
    const name = strings[path] ?? '';
    return {
      path: name,
      function: strings[fn] ?? '',
      detail: strings[detail] ?? '',
      line,
      home: homeOf(name),
      kind: flags & FLAG.thrown ? 'thrown' : flags & FLAG.call ? 'call' : '',
      isErrorClass: (flags & FLAG.errorClass) !== 0,
      isHelper: (flags & FLAG.helper) !== 0,
      first: firstNames[index],
    };
  }

  return {
    find(frame) {
      const bundle = placesOf(frame.file);
      return bundle
        ? toFrameLocation(findPlace(bundle, frame.line - 1, Math.max(0, frame.column - 1)))
        : toPlainLocation(frame);
    },
    has: (name) => Object.hasOwn(bundles, name),
    isWritten(path, property) {
      const text = Object.hasOwn(properties, path) ? properties[path] : undefined;
      if (text === undefined) return true;
      const known = names.get(path) ?? new Set(text.split(' '));
      names.set(path, known);
      return known.has(property);
    },
  };
}

/** Line, column and location of each place where another location begins, three numbers each, in ascending order. */
type Places = Uint32Array;

function decodePlaces(text: string): Places {
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

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Decodes numbers as in source maps: base64 digits of five bits, with the sign in the lowest bit of the first. */
function decodeVlq(text: string): number[] {
  const numbers: number[] = [];
  let value = 0;
  let shift = 0;
  for (let at = 0; at < text.length; at += 1) {
    const digit = DIGITS.indexOf(text.charAt(at));
    value += (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    value = 0;
    shift = 0;
  }
  return numbers;
}

/** Returns the location of the last place at or before this one, or 0 if there is none. */
function findPlace(places: Places, line: number, column: number): number {
  let low = 0;
  let high = places.length / 3;
  while (low < high) {
    const middle = (low + high) >> 1;
    const middleLine = places[middle * 3] ?? 0;
    const isAfter = middleLine > line || (middleLine === line && (places[middle * 3 + 1] ?? 0) > column);
    if (isAfter) high = middle;
    else low = middle + 1;
  }
  return low === 0 ? 0 : (places[low * 3 - 1] ?? 0);
}

const SOURCE = /^(?!node_modules\/|(?:client|server)\/)[^:]+\.[cm]?[jt]sx?$/;

/** True for a file of the project that runs unbuilt: in development, in tests, and in an existing app. */
export function isSource(file: string): boolean {
  return SOURCE.test(file) && !file.split('/').includes('..');
}

/** Makes a location from the frame itself: a source file that runs unbuilt, with the engine's name of the function. */
function toPlainLocation({ file, line, function: name }: StackFrame): FoundLocation | undefined {
  const isPlain = isSource(file);
  if (!isPlain && !file.startsWith('node_modules/')) return undefined;
  const path = isPlain ? file : toPackage(file);
  return {
    path,
    function: isPlain ? toFunctionName(name) : '',
    detail: '',
    line,
    home: homeOf(path),
    kind: '',
    isErrorClass: false,
    isHelper: isPlain && HELPER.test(`${file}:${toFunctionName(name)}`),
  };
}

/** By file or by function, as in `build/sites/index-source.mjs`. */
const HELPER =
  /(?:^|\/)(?:tiny-)?(?:invariant|assert|assertions?)\.[cm]?[jt]sx?:|[:.](?:invariant|assert(?:[A-Z]\w*)?)$/;

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

function homeOf(path: string): Home {
  if (path.startsWith('node_modules/')) return 'dependency';
  return isProductCode(path) ? 'own' : 'engine';
}

/**
 * Loads the table of the running build. There is none in tests, where stacks name the source files themselves.
 *
 * @param dist the folder of the build
 * @throws Error if the table is from another release
 */
export function loadLocationTable(dist: string): LocationTable {
  let json: string;
  waitUntilBuilt(dist);
  try {
    json = readFileSync(join(dist, 'sites.json'), 'utf8');
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
