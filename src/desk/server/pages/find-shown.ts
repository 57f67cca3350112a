import type { Address } from '../../../server/errors/parse-address.ts';
import type { LoaderArgs } from '../../../server/pages/server-page.ts';
import { notFound, publicError, redirect } from '../../../shared/routing/control-flow.ts';
import { toIncidentHref } from '../../shared/href.ts';
import type { MissedShape } from '../../shared/shapes.ts';
import type { FoundIncident, Occurrence } from '../store/records.ts';
import type { Shown, StoryCalls } from '../views/read-incident.ts';
import { toDeletedWords } from '../views/standing-words.ts';

/**
 * Finds the current incident of an address. Also finds the occurrence that it names, or the nearest full one; the
 * latest if it names none.
 *
 * Redirects to the canonical URL of the address.
 */
export async function findShown(asked: Address, { params, scope, calls, own }: FindShownOptions): Promise<Shown> {
  const found = await calls.find(toText(asked), scope || undefined);
  if (!found) {
    const deletion = await calls.readDeletion(asked.digest, scope || undefined);
    return deletion ? publicError(410, toDeletedWords(deletion)) : notFound();
  }
  const { digest, environment } = found.incident;
  const occurrence = found.occurrence?.occurrence ?? asked.occurrence;
  const isAsked = params.digest === digest && params.occurrence === occurrence;
  const isThere = (scope || own) === environment;
  if (!isAsked || !isThere) redirect(toIncidentHref(digest, occurrence, environment === own ? '' : environment));
  return chooseShown(found, occurrence, calls);
}

interface FindShownOptions {
  readonly params: LoaderArgs['params'];
  /** The environment that the URL names; empty if it names none, which allows any. */
  readonly scope: string;
  /** The environment of this server. */
  readonly own: string;
  readonly calls: StoryCalls;
}

/** @param occurrence the requested one; undefined for the latest full one */
export async function chooseShown(
  found: FoundIncident,
  occurrence: string | undefined,
  calls: StoryCalls,
): Promise<Shown> {
  const key = found.incident.key;
  const neighbours = await calls.findNeighbours(key, occurrence ?? '');
  if (found.occurrence?.full) return { found: found.incident, shown: found.occurrence, missed: undefined, neighbours };
  const { nearestFull } = neighbours;
  const { digest, environment } = found.incident;
  const nearest = nearestFull && (await calls.find(`${digest}-${nearestFull.occurrence}`, environment))?.occurrence;
  const shown = nearest ?? found.occurrence;
  return {
    found: found.incident,
    shown,
    missed: toMissed(found, occurrence, shown),
    neighbours: found.occurrence || !shown ? neighbours : await calls.findNeighbours(key, shown.occurrence),
  };
}

function toText({ digest, occurrence }: Pick<Address, 'digest' | 'occurrence'>): string {
  return [digest, ...(occurrence === undefined ? [] : [occurrence])].join('-');
}

function toMissed(
  { state, occurrence: stored }: FoundIncident,
  asked: string | undefined,
  shown: Occurrence | undefined,
): MissedShape | undefined {
  if (asked === undefined || asked === shown?.occurrence) return undefined;
  return {
    occurrence: asked,
    state: stored ? 'summary' : state === 'sampled' || state === 'arriving' ? state : 'unknown',
    ...(stored && { at: stored.at }),
    ...(stored?.requestId !== undefined && { requestId: stored.requestId }),
  };
}
