import { expect, it } from 'vitest';
import { createScrubber, scrubFailure } from '../../../src/server/errors/scrub.ts';
import { FAILURE } from '../../support/failure.ts';

const scrubber = createScrubber();

const { id, digest, occurrence, kind, side, origin, at, build, release } = FAILURE;
const { route, routeId, requestId, traceId, spanId, location } = FAILURE;

it('keeps the fields that identify a failure, even if they match a secret', () => {
  // Every text of the failure itself, which a stranger could put into a cookie.
  const own = JSON.stringify(FAILURE).match(/[^"{}[\]:,]{8,}/g) ?? [];
  expect(scrubFailure(FAILURE, scrubber.with(own))).toMatchObject({
    ...{ id, digest, occurrence, kind, side, origin, at, build, release, route, routeId, requestId, traceId, spanId },
    location: { path: location?.path, function: location?.function },
    errors: [{ frames: [{ file: 'server/main.js', line: 10, column: 5 }, {}] }, {}],
  });
});
