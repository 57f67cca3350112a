import { DATA_PREFIX } from '../../../../shared/engine/wire/protocol.ts';
import { withDecoded } from '../../request/decode-percent.ts';
import type { Scrubber } from '../scrub.ts';
import { cutText } from '../trim.ts';
import { REDACTED } from './secret-patterns.ts';

/** How many paths are remembered (count). */
const MAX_REMEMBERED = 1000;

/** Redacts the secrets in a path, by the route's pattern if it is known, and cuts the path. */
export type ScrubPath = (path: string, route: string | undefined) => string;

/** For lines of the log, where most paths repeat. */
export function createPathScrubber(scrubber: Scrubber): ScrubPath {
  const answers = new Map<string, string>();
  return function scrubPath(path, route) {
    const key = `${route} ${path}`;
    const known = answers.get(key);
    if (known !== undefined) return known;
    // A path can be 8 KiB long, and a flood of such lines would fill a disk.
    const answer = cutText(scrubber.url(hidePathSecrets(path, route, scrubber)));
    if (answers.size >= MAX_REMEMBERED) answers.clear();
    answers.set(key, answer);
    return answer;
  };
}

/** Redacts the values of parameters with a secret name, such as `/reset/:token`. */
export function hidePathSecrets(url: string, route: string | undefined, scrubber: Pick<Scrubber, 'hides'>): string {
  const { segments, hidden, rest } = findHidden(url, route, scrubber);
  if (hidden.length === 0) return url;
  return segments.map((segment, index) => (hidden.includes(index) ? REDACTED : segment)).join('/') + rest;
}

/** Lists those values. */
export function listPathSecrets(url: string, route: string | undefined, scrubber: Pick<Scrubber, 'hides'>): string[] {
  const { segments, hidden } = findHidden(url, route, scrubber);
  return hidden.map((index) => segments[index] ?? '').flatMap(withDecoded);
}

/**
 * Makes patterns for the scrubber that match a parameter with a secret name after the fixed parts of its route. They
 * are needed because URLs of pages also appear in referers, breadcrumbs and messages. A parameter without a fixed part
 * before it can only be recognized by its position in the path.
 *
 * @param routes patterns of pages (`/reset/:token`)
 */
export function listPathPatterns(routes: readonly string[], scrubber: Pick<Scrubber, 'hides'>): RegExp[] {
  return routes.flatMap((route) => {
    const parts = route.split('/').slice(1);
    return parts.flatMap((part, index) => {
      const name = /^:(\w+)/.exec(part)?.[1];
      const before = parts.slice(0, index);
      if (!name || !scrubber.hides(name) || before.every((one) => !/^\w/.test(one))) return [];
      return [new RegExp(`(?<=/${before.map(toSource).join('/')}/)${SEGMENT}{1,1000}`, 'g')];
    });
  });
}

/** A character of a path segment, in a URL within a text. */
const SEGMENT = `[^\\s/?#"'<>\\\\]`;

function toSource(part: string): string {
  return part.startsWith(':') ? `${SEGMENT}{1,200}` : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

interface Hidden {
  readonly segments: readonly string[];
  /** Indexes of the hidden segments. */
  readonly hidden: readonly number[];
  /** The query. */
  readonly rest: string;
}

const NONE: Hidden = { segments: [], hidden: [], rest: '' };

function findHidden(url: string, route: string | undefined, scrubber: Pick<Scrubber, 'hides'>): Hidden {
  if (!route?.includes(':')) return NONE;
  const end = url.indexOf('?');
  const path = end < 0 ? url : url.slice(0, end);
  const segments = path.split('/');
  // Page data is requested with the path of its page after a prefix.
  const isData = path.startsWith(`${DATA_PREFIX}/`) && !route.startsWith(DATA_PREFIX);
  const offset = isData ? DATA_PREFIX.split('/').length - 1 : 0;
  const hidden = route.split('/').flatMap((part, index) => {
    const name = /^:(\w+)/.exec(part)?.[1];
    return name && index + offset < segments.length && scrubber.hides(name) ? [index + offset] : [];
  });
  return { segments, hidden, rest: url.slice(path.length) };
}
