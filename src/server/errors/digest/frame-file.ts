import { decodePercent } from '../../request/decode-percent.ts';

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
