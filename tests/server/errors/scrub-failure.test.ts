import { expect, it } from 'vitest';
import type { Failure } from '../../../src/server/errors/failure.ts';
import { createScrubber, scrubFailure } from '../../../src/server/errors/scrub.ts';

const scrubber = createScrubber();

const identity: Omit<Failure, 'errors' | 'title'> = {
  ...{ id: '41111111111111114111111111111111', digest: '7K3QM2XA', occurrence: '9F4W0R6B' },
  ...{ kind: 'exception', side: 'server', origin: 'loader', at: 4_111_111_111_111, build: 'a29092e775f1' },
  ...{ release: 'shop@1.4.0', route: '/orders/:id', routeId: 'order', requestId: 'req-1', visitor: 'aGFzaA' },
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
};
const frame = { file: 'server/main.js', line: 1, column: 2, function: 'Cart.checkout' };
const failure: Failure = {
  ...identity,
  errors: [
    {
      class: 'TypeError',
      message: 'No such thing',
      frames: [frame, { ...frame, file: 'https://cdn.example/x.js', function: '' }],
    },
  ],
  title: 'TypeError: No such thing',
  location: { path: 'src/server/product/pages/cart.ts', function: 'Cart.checkout', detail: 'throw new Error("x")' },
  request: { method: 'GET', url: '/orders/7', headers: { accept: 'text/html' } },
  componentStack: '\n    at Cart (src/x.tsx)',
  breadcrumbs: [{ at: 1, category: 'fetch', message: 'GET /x', data: { status: 500, ok: false } }],
  tags: { plan: 'pro' },
  extra: { note: ['kept'] },
};

it('does not change a failure without secrets', () => {
  const bare: Failure = { ...failure, errors: [], request: undefined, breadcrumbs: undefined };
  for (const given of [failure, bare]) expect(scrubFailure(given, scrubber)).toEqual(given);
});

it('finds a secret in every field with text', () => {
  const secret = 'session-of-ann';
  const message = `No row for ${secret}`;
  const files = [`https://x.example/a.js?v=${secret}`, `../${secret}.js`, 'server/main.js'];
  const frames = files.map((file) => ({ file, line: 1, column: 1, function: file.startsWith('https') ? 'f' : secret }));
  const told = scrubFailure(
    {
      ...failure,
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
  const own = JSON.stringify(failure).match(/[^"{}[\]:,]{8,}/g) ?? [];
  const { file, line, column } = frame;
  expect(scrubFailure(failure, scrubber.with(own))).toMatchObject({
    ...identity,
    location: { path: failure.location?.path, function: failure.location?.function },
    errors: [{ frames: [{ file, line, column }, {}] }],
  });
});
