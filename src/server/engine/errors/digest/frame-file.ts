import { decodePercent } from '../../request/decode-percent.ts';

export interface FramePaths {
  /** The folder of the build, absolute. The folder around it is the project. */
  readonly dist: string;
  /** Where our own assets come from, such as `https://shop.example`; any origin where it is left out. */
  readonly origins?: readonly string[];
}

/**
 * The name of a script as a `StackFrame` tells it: a path within `dist` for our bundles, `src/…` for a
 * file that runs as it was written, `node_modules/…`, `node:fs`, origin and path of a foreign script.
 * Empty for what has no file. Never an absolute path of this machine, nor a query.
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

/** Slashes may be doubled, and what is left must not look like a path of this machine. */
function withoutSlashes(path: string): string {
  return path.replace(/^\/+/, '');
}

/** Of a `file:` URL or a path; without a query, which development servers add. */
function toPath(location: string): string {
  const end = location.search(/[?#]/);
  const path = end < 0 ? location : location.slice(0, end);
  if (!path.startsWith('file:')) return path;
  const local = path.replace(/^file:(?:\/\/[^/]*)?/, '');
  const decoded = decodePercent(local) ?? local;
  return /^\/[A-Za-z]:\//.test(decoded) ? decoded.slice(1) : decoded;
}

function toForeignFile(location: string, origins: readonly string[] | undefined): string {
  const [, origin = '', path = ''] = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)([^?#]*)/i.exec(location) ?? [];
  if (!/^https?:/i.test(origin)) return origin + path;
  if (origins && !origins.includes(origin.toLowerCase())) return origin + path;
  if (path.startsWith('/assets/')) return `client${path}`;
  // A script within a page: its path is the page's and says nothing of the script.
  return origins && !/\.m?js$/.test(path) ? '' : origin + path;
}
