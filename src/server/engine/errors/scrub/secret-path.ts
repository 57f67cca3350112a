import { DATA_PREFIX } from '../../../../shared/engine/protocol.ts';
import type { Scrubber } from '../scrub.ts';
import { REDACTED } from './secret-patterns.ts';

/** How many paths are remembered (a count). */
const MAX_REMEMBERED = 1000;

/** Takes the secrets out of a path, by the route's pattern where one is known. */
export type ScrubPath = (path: string, route: string | undefined) => string;

/** For lines of the log: most requests ask for what was asked before. */
export function createPathScrubber(scrubber: Scrubber): ScrubPath {
  const answers = new Map<string, string>();
  return function scrubPath(path, route) {
    const key = `${route} ${path}`;
    const known = answers.get(key);
    if (known !== undefined) return known;
    const answer = scrubber.url(hidePathSecrets(path, route, scrubber));
    if (answers.size >= MAX_REMEMBERED) answers.clear();
    answers.set(key, answer);
    return answer;
  };
}

/** The same address without the values of parameters that have a secret's name: `/reset/:token`. */
export function hidePathSecrets(url: string, route: string | undefined, scrubber: Pick<Scrubber, 'hides'>): string {
  const { segments, hidden, rest } = findHidden(url, route, scrubber);
  if (hidden.length === 0) return url;
  return segments.map((segment, index) => (hidden.includes(index) ? REDACTED : segment)).join('/') + rest;
}

/** Those values. */
export function listPathSecrets(url: string, route: string | undefined, scrubber: Pick<Scrubber, 'hides'>): string[] {
  const { segments, hidden } = findHidden(url, route, scrubber);
  return hidden.flatMap((index) => [segments[index] ?? '', decode(segments[index] ?? '')]);
}

interface Hidden {
  readonly segments: readonly string[];
  /** Their numbers. */
  readonly hidden: readonly number[];
  /** The search. */
  readonly rest: string;
}

const NONE: Hidden = { segments: [], hidden: [], rest: '' };

function findHidden(url: string, route: string | undefined, scrubber: Pick<Scrubber, 'hides'>): Hidden {
  if (!route?.includes(':')) return NONE;
  const end = url.indexOf('?');
  const path = end < 0 ? url : url.slice(0, end);
  const segments = path.split('/');
  // Page data is asked for by the address of its page.
  const isData = path.startsWith(`${DATA_PREFIX}/`) && !route.startsWith(DATA_PREFIX);
  const offset = isData ? DATA_PREFIX.split('/').length - 1 : 0;
  const hidden = route.split('/').flatMap((part, index) => {
    const name = /^:(\w+)/.exec(part)?.[1];
    return name && index + offset < segments.length && scrubber.hides(name) ? [index + offset] : [];
  });
  return { segments, hidden, rest: url.slice(path.length) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
