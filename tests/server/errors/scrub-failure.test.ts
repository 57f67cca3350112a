import { expect, it } from 'vitest';
import type { Failure } from '../../../src/server/errors/failure.ts';
import { createScrubber, scrubFailure } from '../../../src/server/errors/scrub.ts';
import { FAILURE } from '../../support/failure.ts';

const scrubber = createScrubber();

const { id, digest, occurrence, kind, side, origin, at, build, release } = FAILURE;
const { route, routeId, requestId, traceId, spanId, location } = FAILURE;

it('does not change a failure without secrets', () => {
  const bare: Failure = { ...FAILURE, errors: [], request: undefined, breadcrumbs: undefined };
  for (const given of [FAILURE, bare]) expect(scrubFailure(given, scrubber)).toEqual(given);
});

it('finds a secret in every field with text', () => {
  const secret = 'session-of-ann';
  const message = `No row for ${secret}`;
  const files = [`https://x.example/a.js?v=${secret}`, `../${secret}.js`, 'server/main.js'];
  const frames = files.map((file) => ({ file, line: 1, column: 1, function: file.startsWith('https') ? 'f' : secret }));
  const told = scrubFailure(
    {
      ...FAILURE,
      title: message,
      errors: [{ class: secret, message, code: secret, members: [secret], frames }],
      location: { path: 'a.ts', function: '', detail: message },
      request: { method: 'GET', url: `/x?q=${secret}`, headers: { referer: `https://x.example/?q=${secret}` } },
      componentStack: `at ${secret}`,
      breadcrumbs: [{ at: 1, category: secret, message, data: { url: secret } }],
      tags: { tag: secret },
      extra: { deep: [{ [secret]: secret }] },
    },
    scrubber.with([secret]),
  );
  expect(JSON.stringify(told)).not.toContain(secret);
});

it('keeps the fields that identify a failure, even if they match a secret', () => {
  // Every text of the failure itself, which a stranger could put into a cookie.
  const own = JSON.stringify(FAILURE).match(/[^"{}[\]:,]{8,}/g) ?? [];
  expect(scrubFailure(FAILURE, scrubber.with(own))).toMatchObject({
    ...{ id, digest, occurrence, kind, side, origin, at, build, release, route, routeId, requestId, traceId, spanId },
    location: { path: location?.path, function: location?.function },
    errors: [{ frames: [{ file: 'server/main.js', line: 10, column: 5 }, {}] }, {}],
  });
});
