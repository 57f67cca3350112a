import { createHash, randomBytes } from 'node:crypto';
import { toCrockford } from './crockford.ts';
import type { ErrorFacts } from './error-facts.ts';

/** Changes whenever the rule below does. */
const RULE_VERSION = '1';

export interface DigestOptions {
  /** The same on all replicas and releases; keeps strangers from confirming a guess. */
  readonly namespace: string;
  /** The project's folder: frames under it, and in no dependency, are the application's own. */
  readonly root: string;
}

/**
 * Names the kind of a failure: the same on every replica, after every restart, and in the next
 * release if the code that fails did not change. So neither line nor column counts, and of the
 * message only what is left when data is masked.
 *
 * @param where distinguishes failures without a frame of the application: origin and route
 */
export function createDigest(facts: ErrorFacts, where: readonly string[], options: DigestOptions): string {
  const site = findSite(facts.frames, options.root);
  const firstLine = facts.message.slice(0, facts.message.search(/[\r\n]|$/));
  const fields = [RULE_VERSION, options.namespace, facts.className, ...(site ?? where), maskMessage(firstLine)];
  const hash = createHash('sha256');
  for (const field of fields) {
    const bytes = Buffer.from(field.normalize('NFC'), 'utf8');
    hash.update(`${bytes.length}:`).update(bytes);
  }
  return toCrockford(hash.digest());
}

/** Names one time that it happened. */
export function createOccurrence(): string {
  return toCrockford(randomBytes(5));
}

/** Function and file of the first frame that is the application's own. */
function findSite(frames: readonly string[], root: string): [string, string] | undefined {
  for (const line of frames) {
    const match = /^\s+at (?:(.{1,200}?) \()?(?:file:\/\/)?([^()]{1,500}?):\d+:\d+\)?$/.exec(line);
    const file = match?.[2];
    if (!file || file.includes('node_modules') || file.startsWith('node:')) continue;
    const path = file.replaceAll('\\', '/');
    const home = `${root.replaceAll('\\', '/').replace(/\/$/, '')}/`;
    if (path.startsWith(home)) return [toFunctionName(match[1] ?? ''), toStablePath(path.slice(home.length))];
  }
  return undefined;
}

function toFunctionName(name: string): string {
  return name.replace(/^(?:async |new )+/, '').replace(/ \[as [^\]]*\]$/, '');
}

/** A bundler's content hash (`chunk-X7K2QM2X.js`) changes with every release. */
function toStablePath(path: string): string {
  return path.replace(/-[A-Z0-9]{8}(?=\.m?js$)/, '');
}

/** Leaves the words of a message and takes out what differs from one visit to the next. */
export function maskMessage(line: string): string {
  return line
    .slice(0, 500)
    .replace(/"[^"]*"|'[^']*'|`[^`]*`/g, '?')
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, '?')
    .replace(/(?:[A-Za-z]:)?[\\/][^\s,;)]+/g, '?')
    .replace(/\S*\d\S*/g, '?')
    .replace(/\s+/g, ' ')
    .trim();
}
