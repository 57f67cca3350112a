import { type OccurrenceSummary, toSummary } from '../../ingest/journal-entry.ts';
import { type IncidentKey, toIncidentKey } from '../incident-key.ts';
import type { Incident, StoredFailure } from '../records.ts';

/** An occurrence to store. */
export interface NewOccurrence extends OccurrenceSummary {
  /** The full record, if the journal had one. */
  readonly full?: StoredFailure;
  /** The digest that the visitor was shown, if the failure has another one now. */
  readonly shownAs?: string;
}

/** Returns an occurrence with its full record. */
export function toNewOccurrence<Full extends StoredFailure>(full: Full): NewOccurrence & { readonly full: Full } {
  return { ...toSummary(full), full };
}

/** The occurrences of one incident in a batch. */
export interface BatchIncident {
  readonly key: IncidentKey;
  readonly digest: string;
  /** At least one, the earliest first. */
  readonly occurrences: readonly [NewOccurrence, ...NewOccurrence[]];
}

/** Groups a batch by incident, sorted by key, so that replicas lock rows in the same order and never deadlock. */
export function groupByIncident(batch: readonly NewOccurrence[], environment: string): readonly BatchIncident[] {
  // An echo is a server's failure as the browser saw it, so it is already counted.
  const counted = batch.filter(({ full }) => full?.echoOf === undefined).sort((one, other) => one.at - other.at);
  return [...Map.groupBy(counted, ({ digest }) => digest)]
    .flatMap(([digest, [first, ...more]]): BatchIncident[] =>
      first ? [{ key: toIncidentKey(digest, environment), digest, occurrences: [first, ...more] }] : [],
    )
    .sort((one, other) => (one.key < other.key ? -1 : 1));
}

/** Returns the line of a location in one occurrence. @param resolved the frames of each error, as resolved by source maps */
export function findLine(
  location: Incident['location'],
  { resolved = [], components = [] }: Pick<StoredFailure, 'resolved' | 'components'>,
): number | undefined {
  const inFile = [...resolved.flat(), ...components].filter(({ file, line }) => file === location?.path && line > 0);
  // The source map can have another function name than the location. Then any frame in the file is used.
  return (inFile.find((frame) => frame.function === location?.function) ?? inFile[0])?.line;
}
