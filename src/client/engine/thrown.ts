import { isOutcome } from '../../shared/engine/outcome.ts';

/** Levels of `cause` that are looked at (a count): a chain can be endless. */
const MAX_CAUSES = 10;

/** Something thrown and its causes, outermost first. Never throws, whatever was. */
export function causesOf(thrown: unknown): unknown[] {
  const chain = [thrown];
  for (let link = thrown; chain.length < MAX_CAUSES; chain.push(link)) {
    link = read(link, 'cause');
    if (link === undefined || link === null || chain.includes(link)) break;
  }
  return chain;
}

/** A property of anything; undefined where there is none, or where reading it throws. */
export function read(value: unknown, name: string): unknown {
  try {
    return (Object(value) as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

/** A page's way to end on purpose, here or on the server, or the end of what nobody waits for any more. */
export function isMeant(thrown: unknown): boolean {
  const kind = read(read(thrown, 'pageError'), 'kind') ?? 'failure';
  return isOutcome(thrown) || kind !== 'failure' || read(thrown, 'name') === 'AbortError';
}

/** What browsers say of a request that got no answer. */
export function isNetworkFailure(thrown: unknown): boolean {
  return (
    read(thrown, 'name') === 'TypeError' &&
    /^(?:Failed to fetch|network error|NetworkError |Load failed)/.test(String(read(thrown, 'message')))
  );
}

/** What they say of a module that did not come. */
export function isLoadFailure(thrown: unknown): boolean {
  return /dynamically imported module|^Importing a module/.test(String(read(thrown, 'message')));
}
