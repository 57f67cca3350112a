import type { StatusShape } from '../../shared/shapes.ts';
import type { Incident } from '../store/records.ts';

export function presentStatus(incident: Incident): StatusShape {
  const { state, regressed, resolvedIn, ignoredUntil, ignoredGrowth, stateAt, stateBy } = incident;
  return {
    state,
    ...(regressed && { isRegression: true }),
    ...(resolvedIn === 'next' && { isForNext: true }),
    ...(ignoredUntil !== undefined && { ignoredUntil }),
    ...(ignoredGrowth !== undefined && { ignoredUntilMore: ignoredGrowth }),
    ...(stateAt !== undefined && { changedAt: stateAt }),
    ...(stateBy !== undefined && { changedBy: stateBy }),
  };
}
