import { toIncidentHref } from '../../../shared/desk/href.ts';
import type { MissedShape } from '../../../shared/desk/shapes.ts';
import { notFound, publicError, redirect } from '../../../shared/engine/routing/control-flow.ts';
import type { Address } from '../../engine/errors/parse-address.ts';
import type { LoaderArgs } from '../../engine/pages/server-page.ts';
import { keyOf, toDigest } from '../store/incident-key.ts';
import type { Found, Occurrence } from '../store/records.ts';
import type { AskStore, Shown } from '../views/read-incident.ts';
import { toDeletedWords } from '../views/standing-words.ts';

/**
 * Finds the current incident of an address. Also finds the occurrence that it names, or the nearest full one; the
 * latest if it names none.
 *
 * Redirects to the canonical URL of the address.
 */
export async function findShown(asked: Address, { params, scope, ask, own }: FindShownOptions): Promise<Shown> {
  const found = await ask('find', toText(asked), scope || undefined);
  if (!found) {
    const deletion = await ask('readDeletion', asked.digest, scope || undefined);
    return deletion ? publicError(410, toDeletedWords(deletion)) : notFound();
  }
  const { digest, environment } = found.incident;
  const occurrence = found.occurrence?.occurrence ?? asked.occurrence;
  const isAsked = params.digest === digest && params.occurrence === occurrence;
  const isThere = (scope || own) === environment;
  if (!isAsked || !isThere) redirect(toIncidentHref(digest, occurrence, environment === own ? '' : environment));
  return chooseShown(found, occurrence, ask);
}

export interface FindShownOptions {
  readonly params: LoaderArgs['params'];
  /** The environment that the URL names; empty if it names none, which allows any. */
  readonly scope: string;
  /** The environment of this server. */
  readonly own: string;
  readonly ask: AskStore;
}

/** @param occurrence the requested one; undefined for the latest full one */
export async function chooseShown(found: Found, occurrence: string | undefined, ask: AskStore): Promise<Shown> {
  const key = keyOf(found.incident);
  const neighbours = await ask('findNeighbours', key, occurrence ?? '');
  if (found.occurrence?.whole) return { found: found.incident, shown: found.occurrence, missed: undefined, neighbours };
  const { nearestWhole } = neighbours;
  const nearest = nearestWhole && (await ask('find', toText(nearestWhole), found.incident.environment))?.occurrence;
  const shown = nearest ?? found.occurrence;
  return {
    found: found.incident,
    shown,
    missed: toMissed(found, occurrence, shown),
    neighbours: found.occurrence || !shown ? neighbours : await ask('findNeighbours', key, shown.occurrence),
  };
}

/** @param address its digest can be a key */
function toText({ digest, occurrence }: Pick<Address, 'digest' | 'occurrence'>): string {
  return [toDigest(digest), ...(occurrence === undefined ? [] : [occurrence])].join('-');
}

function toMissed(
  { state, occurrence: kept }: Found,
  asked: string | undefined,
  shown: Occurrence | undefined,
): MissedShape | undefined {
  if (asked === undefined || asked === shown?.occurrence) return undefined;
  return {
    occurrence: asked,
    state: kept ? 'thin' : state === 'thinned' || state === 'arriving' ? state : 'unknown',
    ...(kept && { at: kept.at }),
    ...(kept?.requestId !== undefined && { requestId: kept.requestId }),
  };
}
