import type { CommitShape } from '../../shared/shapes.ts';
import type { BuildRecord, BuildTable } from './build-table.ts';
import { type Charts, readCharts } from './charts.ts';
import { findCommit, listLines } from './find-commit.ts';
import type { HistoryTable, LoggedChange, Note } from './history-table.ts';
import { type IncidentKey, splitKey } from './incident-key.ts';
import type { IncidentTable } from './incident-table.ts';
import { findBeside, findNearestFull, type OccurrenceTable, readOccurrence } from './occurrence-table.ts';
import type { IncidentRelease, Occurrence } from './records.ts';
import type { StoreContext } from './store-context.ts';

/** Everything that the page of an incident shows, with one of its occurrences. */
export interface IncidentDetails {
  /** The occurrence that was asked for, or the nearest full one. Undefined if none is stored. */
  readonly shown?: Occurrence;
  /** The occurrence that was asked for, if another one is shown. `row`: what is stored of it. */
  readonly missed?: { readonly occurrence: string; readonly row?: Occurrence };
  /** The neighbours in time. */
  readonly newer?: string;
  readonly older?: string;
  /** The latest occurrences. */
  readonly recent: readonly Occurrence[];
  readonly charts: Charts;
  readonly releases: readonly IncidentRelease[];
  readonly deployments: readonly BuildRecord[];
  readonly changes: readonly LoggedChange[];
  readonly notes: readonly Note[];
  /** The likely cause. */
  readonly commit?: CommitShape;
}

interface Tables {
  readonly builds: BuildTable;
  readonly history: HistoryTable;
  readonly incidents: IncidentTable;
  readonly occurrences: OccurrenceTable;
}

/** The most listed entries (counts). */
const RECENT = 12;
const CHANGES = 100;

export function createIncidentDetails({ reader: sql }: StoreContext, tables: Tables) {
  const { builds, history, incidents, occurrences } = tables;

  async function readShown(key: IncidentKey, wanted: string | undefined) {
    const row = wanted === undefined ? undefined : await readOccurrence(sql, key, wanted);
    const shown = row?.full ? row : ((await findNearestFull(sql, key, row?.at)) ?? row);
    const place = row ?? shown;
    const newer = place && (await findBeside(sql, place, 'newer'));
    const older = place && (await findBeside(sql, place, 'older'));
    const isMissed = wanted !== undefined && wanted !== shown?.occurrence;
    return {
      shown,
      missed: isMissed ? { occurrence: wanted, row } : undefined,
      newer,
      older,
    };
  }

  return {
    async readDetails(key: IncidentKey, occurrence: string | undefined): Promise<IncidentDetails> {
      const { environment } = splitKey(key);
      const [choice, recent, charts, releases, deployments, changes, notes] = await Promise.all([
        readShown(key, occurrence),
        occurrences.listOccurrences(key, { limit: RECENT }),
        readCharts(sql, [key], Date.now()),
        incidents.listReleases(key),
        builds.listDeployments(environment),
        history.listChanges(key, CHANGES),
        history.listNotes(key, CHANGES),
      ]);
      const { shown } = choice;
      const lines = listLines(shown?.full);
      return {
        ...choice,
        recent: recent.occurrences,
        charts: charts(key),
        releases,
        deployments,
        changes,
        notes,
        commit: shown && (await findCommit(builds, { build: shown.build, lines, releases, deployments })),
      };
    },
  };
}
