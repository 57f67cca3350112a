import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, extname, join, sep } from 'node:path';
import type { Logger } from 'pino';
import { ASSET_PREFIX } from '../../shared/wire/protocol.ts';
import { MAX_BUFFERED_FILE_BYTES } from '../limits.ts';
import { HTML_TYPE } from '../request/send-body.ts';
import { isUnfinished, untilBuilt } from '../request/unfinished-build.ts';

/** One encoding of a file. */
export interface Representation {
  readonly encoding: 'br' | 'zstd' | 'gzip' | undefined;
  readonly size: number;
  /** Strong: it differs if the bytes that are sent do. */
  readonly etag: string;
  readonly file: string;
  /** Undefined for a large file. Those of an asset are read when they are first asked for. */
  readonly bytes: Buffer | undefined;
}

export interface PublicFile {
  readonly type: string;
  readonly cacheControl: string;
  /** Smallest first; the last one is the original file. */
  readonly representations: readonly Representation[];
}

const ENCODINGS = { '.br': 'br', '.zst': 'zstd', '.gz': 'gzip' } as const;

export const SCRIPT_TYPE = 'text/javascript; charset=utf-8';

const TYPES: Readonly<Record<string, string>> = {
  '.js': SCRIPT_TYPE,
  '.mjs': SCRIPT_TYPE,
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.avif': 'image/avif',
  '.gif': 'image/gif',
  '.ico': 'image/x-icon',
  '.eot': 'application/vnd.ms-fontobject',
  '.otf': 'font/otf',
  '.ttf': 'font/ttf',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
  '.html': HTML_TYPE,
  '.xml': 'application/xml',
  '.wasm': 'application/wasm',
  '.mp4': 'video/mp4',
  '.webm': 'video/webm',
  '.pdf': 'application/pdf',
};

/** A dotfile, or one in such a folder, other than `.well-known` (RFC 8615). */
const HIDDEN = /(?:^|\/)\.(?!well-known\/)/;

/** Endings of the files that the build adds. */
const ADDED = /\.(?:br|zst|gz|map)$/;

/** Returns the content type of a file that is served. */
function toType(path: string): string | undefined {
  if (HIDDEN.test(path)) return undefined;
  const ending = extname(path);
  // Such as `apple-app-site-association`.
  return ending === '' && path.startsWith('.well-known/') ? TYPES['.json'] : TYPES[ending];
}

/** The name of an asset contains a hash of its content, so it never changes. */
const IMMUTABLE = 'public, max-age=31536000, immutable';
const SHORT = 'public, max-age=300';

/**
 * Reads the built client folder once and returns the files that can be requested, by URL path. A path that is not in
 * the map does not exist, so no spelling of a path reaches the disk. Leaves out source maps, files of unknown type,
 * and dotfiles except below `/.well-known/`.
 *
 * @param dist the folder of the build. If it is not complete, compressed files are added to the map later.
 * @param log names files of unknown type
 */
export function indexPublicFiles(dist: string, log?: Pick<Logger, 'warn'>): ReadonlyMap<string, PublicFile> {
  const directory = join(dist, 'client');
  const paths = listPaths(directory);
  for (const path of paths) {
    const isAdded = ADDED.test(path) && paths.has(path.replace(ADDED, ''));
    if (toType(path) !== undefined || HIDDEN.test(path) || isAdded) continue;
    log?.warn(`src/client/public/${path} is not served, because its type is unknown. Serve it with a route.`);
  }
  const files = readPublicFiles(directory, paths);
  if (isUnfinished(dist)) {
    const addCompressed = async () => {
      await untilBuilt(dist);
      for (const [url, file] of readPublicFiles(directory, listPaths(directory))) files.set(url, file);
    };
    addCompressed().catch(() => undefined); // the next build has begun: files are sent as they are
  }
  return files;
}

function listPaths(directory: string): ReadonlySet<string> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const start = directory.length + 1;
  return new Set(entries.map(({ parentPath, name }) => join(parentPath, name).slice(start).split(sep).join('/')));
}

function readPublicFiles(directory: string, paths: ReadonlySet<string>): Map<string, PublicFile> {
  const files = new Map<string, PublicFile>();
  for (const path of paths) {
    const type = toType(path);
    if (type === undefined) continue;
    const url = encodeURI(`/${path}`);
    const isAsset = url.startsWith(ASSET_PREFIX);
    const read = isAsset ? findRepresentation : readRepresentation;
    files.set(url, {
      type,
      cacheControl: isAsset ? IMMUTABLE : SHORT,
      representations: listRepresentations(join(directory, path), (ending) => paths.has(path + ending), read),
    });
  }
  return files;
}

/**
 * Reads one file of a client folder, which can change, or its source map.
 *
 * @param url a canonical path, as the URL normalizer returns it
 */
export function readPublicFile(directory: string, url: string): PublicFile | undefined {
  const path = decodeURI(url).slice(1);
  const type = toType(path.replace(/\.map$/, '.json'));
  if (type === undefined) return undefined;
  const plain = join(directory, path);
  if (!statSync(plain, { throwIfNoEntry: false })?.isFile()) return undefined;
  const cacheControl = url.startsWith(ASSET_PREFIX) ? IMMUTABLE : 'no-store';
  return { type, cacheControl, representations: [readRepresentation(plain, undefined)] };
}

/**
 * Makes an asset of an earlier build, which is not on this disk.
 *
 * @returns undefined for a type that is not served
 */
export function createAsset(path: string, contents: Uint8Array): PublicFile | undefined {
  const type = TYPES[extname(path)];
  if (type === undefined) return undefined;
  const bytes = Buffer.from(contents.buffer, contents.byteOffset, contents.byteLength);
  const representation = { encoding: undefined, size: bytes.length, etag: toEtag(bytes), file: '', bytes };
  return { type, cacheControl: IMMUTABLE, representations: [representation] };
}

function listRepresentations(
  file: string,
  has: (ending: string) => boolean,
  read: typeof readRepresentation,
): Representation[] {
  const plain = read(file, undefined);
  const encoded = Object.entries(ENCODINGS)
    .filter(([ending]) => has(ending))
    .map(([ending, encoding]) => read(file + ending, encoding))
    .filter((representation) => representation.size < plain.size)
    .sort((left, right) => left.size - right.size);
  return [...encoded, plain];
}

function readRepresentation(file: string, encoding: Representation['encoding']): Representation {
  const bytes = readFileSync(file);
  return {
    encoding,
    size: bytes.length,
    etag: toEtag(bytes),
    file,
    bytes: bytes.length <= MAX_BUFFERED_FILE_BYTES ? bytes : undefined,
  };
}

/** The same for an asset. The folder can have those of many builds, so reading all of them would delay the start. */
function findRepresentation(file: string, encoding: Representation['encoding']): Representation {
  const { size } = statSync(file);
  let bytes: Buffer | undefined;
  return {
    encoding,
    size,
    etag: `"${encodeURI(basename(file))}-${size}"`,
    file,
    get bytes() {
      if (size <= MAX_BUFFERED_FILE_BYTES) bytes ??= readFileSync(file);
      return bytes;
    },
  };
}

function toEtag(bytes: Uint8Array): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
}
