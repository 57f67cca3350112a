import { isbot } from 'isbot';

/** Cached, because the check is one large expression that costs as much as ten components. */
const known = new Map<string, boolean>();
const MOST_KNOWN = 1000;
const LONGEST_KNOWN = 300;

/** Whether a `User-Agent` belongs to a program that reads pages without running scripts. */
export function isCrawler(userAgent: string | undefined): boolean {
  if (!userAgent) return false;
  if (userAgent.length > LONGEST_KNOWN) return isbot(userAgent);
  const before = known.get(userAgent);
  if (before !== undefined) return before;
  const crawls = isbot(userAgent);
  if (known.size === MOST_KNOWN) known.clear();
  known.set(userAgent, crawls);
  return crawls;
}
