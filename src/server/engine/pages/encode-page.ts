import type { ActionOutcome, PageError, PagePayload } from '../../../shared/engine/wire/payload.ts';
import { type Encoded, type EncodeOptions, encode, WireError } from '../../../shared/engine/wire/wire.ts';
import type { LoadedPage } from './load-page.ts';
import type { PageHouse } from './page-house.ts';
import { createPayload } from './payload.ts';
import type { Visit } from './visit.ts';

/** What was loaded, ready for the wire. */
export interface EncodedPage {
  /** As it came in, or with the failure of a loader whose data cannot be sent. */
  readonly loaded: LoadedPage;
  readonly payload: PagePayload;
  readonly encoded: Encoded;
}

type Desk = Pick<PageHouse, 'funnel' | 'manifest'>;

/**
 * Encodes a page before it is rendered: data that cannot be sent (a function, a class instance) is
 * the failure of the loader that returned it, and is shown in its route's place like any other.
 */
export function encodePage(house: Desk, visit: Visit, loaded: LoadedPage, action?: ActionOutcome): EncodedPage {
  const options = toEncodeOptions(house, visit);
  const payload = createPayload(house.manifest, visit.match, loaded, action);
  try {
    return { loaded, payload, encoded: encode(payload, options) };
  } catch (error) {
    const routeId = error instanceof WireError ? findUnsendable(loaded, options) : undefined;
    if (routeId === undefined) throw error;
    return encodePage(house, visit, withFailure(house, visit, loaded, routeId, error), action);
  }
}

export function toEncodeOptions(house: Pick<PageHouse, 'funnel'>, visit: Visit): EncodeOptions {
  return { toError: toPageErrorOf(house, visit), signal: () => visit.signal };
}

/** What of a late value's error goes to the visitor. */
export function toPageErrorOf(house: Pick<PageHouse, 'funnel'>, visit: Visit): (error: unknown) => PageError {
  return function toPageError(error) {
    const verdict = house.funnel.fail(error, visit.describe('late'));
    if (verdict.kind === 'error') return verdict.error;
    if (verdict.kind === 'redirect') return { kind: 'redirect', status: verdict.status, location: verdict.location };
    return { kind: 'failure', status: 500 };
  };
}

function findUnsendable(loaded: LoadedPage, options: EncodeOptions): string | undefined {
  return Object.keys(loaded.data).find((id) => {
    try {
      encode(loaded.data[id], options);
      return false;
    } catch {
      return true;
    }
  });
}

function withFailure(house: Desk, visit: Visit, loaded: LoadedPage, routeId: string, thrown: unknown): LoadedPage {
  const verdict = house.funnel.fail(thrown, visit.describe('loader', routeId));
  const error: PageError = verdict.kind === 'error' ? verdict.error : { kind: 'failure', status: 500 };
  const outside = visit.match.ids.slice(0, visit.match.ids.indexOf(routeId));
  const data = Object.fromEntries(outside.map((id) => [id, loaded.data[id]]));
  return { kind: 'page', status: error.status, data, errors: { [routeId]: error } };
}
