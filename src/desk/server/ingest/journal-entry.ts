import type { Failure } from '#engine/tracker';

/** A summary of an occurrence, stored when many failures are alike. It is enough to find it by its address. */
export type OccurrenceSummary = Pick<
  Failure,
  'digest' | 'occurrence' | 'at' | 'side' | 'build' | 'release' | 'route' | 'requestId' | 'traceId' | 'visitor'
>;

/** A line of a journal. */
export type JournalEntry =
  | { readonly entry: 'full'; readonly failure: Failure }
  | { readonly entry: 'summary'; readonly summary: OccurrenceSummary }
  /** A page that all replicas have to render again. */
  | { readonly entry: 'revalidation'; readonly path: string };

export function toSummary(failure: Failure): OccurrenceSummary {
  const { digest, occurrence, at, side, build, release, route, requestId, traceId, visitor } = failure;
  return { digest, occurrence, at, side, build, release, route, requestId, traceId, visitor };
}

/**
 * Parses one line of a journal, or returns undefined if it is not a complete entry. The writer may have been an older
 * release, or killed in the middle of a line.
 */
export function parseJournalLine(line: string): JournalEntry | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isJournalEntry(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isJournalEntry(value: unknown): value is JournalEntry {
  const { entry, failure, summary, path } = Object(value);
  if (entry === 'full') return hasAddress(failure) && Array.isArray(failure.errors);
  return entry === 'summary' ? hasAddress(summary) : entry === 'revalidation' && typeof path === 'string';
}

function hasAddress(value: unknown): boolean {
  const { digest, occurrence, at } = Object(value);
  return typeof digest === 'string' && typeof occurrence === 'string' && Number.isFinite(at);
}
