import { userInfo } from 'node:os';
import { toAgo, toCount, toExactTime } from '../../../shared/words.ts';
import { toClean } from '../../terminal/clean-text.ts';
import type { Line } from '../../terminal/paint.ts';
import { TerminalError } from '../../terminal/terminal-error.ts';
import { toCallKey } from '../store/incident-key.ts';
import type { ChangeOutcome } from '../store/incidents/change-incident.ts';
import type { Store } from '../store/store.ts';
import { type Desktop, draw } from './desktop.ts';
import type { ChangeCommand } from './parse-command.ts';

/**
 * Changes each incident separately: an unknown digest does not stop the others.
 *
 * @throws TerminalError that names the unknown digests
 */
export async function changeIncidents(
  { digests, to, environment = '', author }: ChangeCommand,
  store: Store,
  desktop: Desktop,
): Promise<void> {
  const by = { author: author ?? readUser() };
  const unknown: string[] = [];
  const where = environment || desktop.settings.environment;
  for (const digest of digests) {
    const outcome = await store.changeIncident(toCallKey(digest, where), { to }, by);
    if (outcome.outcome === 'changed') draw(desktop, [toChangedLine(outcome, by.author, desktop.now)]);
    else unknown.push(digest);
  }
  if (unknown.length > 0) throw new TerminalError(await toUnknownWords(unknown, where, store));
}

async function toUnknownWords(digests: readonly string[], environment: string, store: Store): Promise<string> {
  const known = await Promise.all(digests.map((digest) => store.listKnownIn(digest)));
  const others = [...new Set(known.flat())];
  const hint = others.length > 0 ? ` Add --environment ${others.join(' or --environment ')}.` : '';
  return `No incident has the digest ${digests.join(' or ')} in the environment ${toClean(environment)}.${hint}`;
}

function toChangedLine(
  { before, after }: Extract<ChangeOutcome, { outcome: 'changed' }>,
  author: string,
  now: number,
): Line {
  const { digest, state, resolvedIn, ignoredUntil, ignoredGrowth, title } = after;
  const how = [
    resolvedIn === 'next' && ' in the next release',
    ignoredUntil !== undefined && ` until ${toExactTime(ignoredUntil)}`,
    ignoredGrowth !== undefined && ` until ${toCount(ignoredGrowth)} more within an hour`,
    state === 'ignored' && ignoredUntil === undefined && ignoredGrowth === undefined && ' forever',
  ].filter((words) => words !== false);
  const who = before.stateBy === undefined ? '' : `, by ${before.stateBy}`;
  const since = before.stateAt === undefined ? '' : ` since ${toAgo(before.stateAt, now)}`;
  return {
    pieces: [
      ['address', digest],
      ` ${state}${how.join('')} by ${author}`,
      ['quiet', ` (was ${before.state}${since}${who})  ${title}`],
    ],
    overflow: 2,
  };
}

/** Falls back to "terminal" for a user without a name, as in some containers. */
export function readUser(): string {
  try {
    return userInfo().username || 'terminal';
  } catch {
    return 'terminal';
  }
}
