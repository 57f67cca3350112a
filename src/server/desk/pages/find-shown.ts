import { toIncidentHref } from '../../../shared/desk/href.ts';
import type { MissedShape } from '../../../shared/desk/shapes.ts';
import { notFound, redirect } from '../../../shared/engine/outcome.ts';
import type { LoaderArgs } from '../../engine/pages/server-page.ts';
import type { Address } from '../address.ts';
import type { Found, Occurrence } from '../store/records.ts';
import type { AskStore, Shown } from './read-incident.ts';

/**
 * Leads an address to where its incident is by now, and finds the occurrence that it names, or the
 * whole one that comes nearest to it; the latest where it names none.
 *
 * @param params as the address spells them: another spelling is answered with a redirect
 */
export async function findShown(asked: Address, params: LoaderArgs['params'], ask: AskStore): Promise<Shown> {
  const found = (await ask('find', toText(asked))) ?? notFound();
  const { digest } = found.incident;
  const occurrence = found.occurrence?.occurrence ?? asked.occurrence;
  if (params.digest !== digest || params.occurrence !== occurrence) redirect(toIncidentHref(digest, occurrence));
  return chooseShown(found, occurrence, ask);
}

/** @param occurrence the one that was asked for; undefined for the latest whole one */
export async function chooseShown(found: Found, occurrence: string | undefined, ask: AskStore): Promise<Shown> {
  const { digest } = found.incident;
  const neighbours = await ask('findNeighbours', digest, occurrence ?? '');
  if (found.occurrence?.whole) return { found: found.incident, shown: found.occurrence, missed: undefined, neighbours };
  const nearest = neighbours.nearestWhole && (await ask('find', toText(neighbours.nearestWhole)))?.occurrence;
  const shown = nearest ?? found.occurrence;
  return {
    found: found.incident,
    shown,
    missed: toMissed(found, occurrence, shown),
    neighbours: found.occurrence || !shown ? neighbours : await ask('findNeighbours', digest, shown.occurrence),
  };
}

function toText({ digest, occurrence }: Pick<Address, 'digest' | 'occurrence'>): string {
  return occurrence === undefined ? digest : `${digest}-${occurrence}`;
}

function toMissed(
  { state, occurrence: kept }: Found,
  asked: string | undefined,
  shown: Occurrence | undefined,
): MissedShape | undefined {
  if (asked === undefined || asked === shown?.occurrence) return undefined;
  return {
    occurrence: asked,
    state: kept ? 'thin' : state === 'thinned' ? 'thinned' : 'unknown',
    ...(kept && { at: kept.at }),
    ...(kept?.requestId !== undefined && { requestId: kept.requestId }),
  };
}
