import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Failure } from '../../../../src/server/engine/errors/failure.ts';
import { createScrubber } from '../../../../src/server/engine/errors/scrub.ts';
import { scrubFailure } from '../../../../src/server/engine/errors/scrub-failure.ts';

const scrubber = createScrubber();

const failure: Failure = {
  id: '41111111111111114111111111111111',
  digest: '7K3QM2XA',
  occurrence: '9F4W0R6B',
  rule: 2,
  kind: 'exception',
  side: 'server',
  origin: 'loader',
  at: 4_111_111_111_111,
  build: 'a29092e775f1',
  release: 'shop@1.4.0',
  errors: [
    {
      class: 'TypeError',
      message: 'No such thing',
      frames: [
        { file: 'server/main.js', line: 1, column: 2, function: 'Cart.checkout' },
        { file: 'https://cdn.example/x.js', line: 1, column: 2, function: '' },
      ],
    },
  ],
  title: 'TypeError: No such thing',
  site: { path: 'src/server/product/pages/cart.ts', function: 'Cart.checkout', detail: 'throw new Error("x")' },
  route: '/orders/:id',
  routeId: 'order',
  requestId: 'req-1',
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  visitor: 'aGFzaA',
  request: { method: 'GET', url: '/orders/7', headers: { accept: 'text/html' } },
  componentStack: '\n    at Cart (src/x.tsx)',
  breadcrumbs: [{ at: 1, category: 'fetch', message: 'GET /x', data: { status: 500, ok: false } }],
  tags: { plan: 'pro' },
  extra: { note: ['kept'] },
};

it('does not change a failure without secrets', () => {
  expect(scrubFailure(failure, scrubber)).toEqual(failure);
  const bare: Failure = { ...failure, errors: [], request: undefined, breadcrumbs: undefined };
  expect(scrubFailure(bare, scrubber)).toEqual(bare);
});

it('finds a secret in every field with text', () => {
  const secret = 'session-of-ann';
  const message = `No row for ${secret}`;
  const told = scrubFailure(
    {
      ...failure,
      title: message,
      errors: [
        {
          class: secret,
          message,
          code: secret,
          members: [secret],
          frames: [
            { file: `https://x.example/a.js?v=${secret}`, line: 1, column: 1, function: 'f' },
            { file: `../${secret}.js`, line: 1, column: 1, function: secret },
            { file: 'server/main.js', line: 1, column: 1, function: secret },
          ],
        },
      ],
      site: { path: 'a.ts', function: '', detail: message },
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
  const known = ['id', 'digest', 'occurrence', 'rule', 'kind', 'side', 'origin', 'at', 'build', 'release'] as const;
  const more = ['route', 'routeId', 'requestId', 'traceId', 'visitor'] as const;
  // Every text of the failure itself, which a stranger could put into a cookie.
  const own = JSON.stringify(failure).match(/[^"{}[\]:,]{8,}/g) ?? [];
  const scrubbed = scrubFailure(failure, scrubber.with(own));
  for (const field of [...known, ...more]) expect(scrubbed[field]).toEqual(failure[field]);
  expect(scrubbed.site).toMatchObject({ path: failure.site?.path, function: failure.site?.function });
  const { function: _name, ...place } = failure.errors[0]?.frames[0] ?? {};
  expect(scrubbed.errors[0]?.frames[0]).toMatchObject(place);
});

it('keeps the shape of any failure', () => {
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), fc.dictionary(fc.string(), fc.string()), (text, extra, tags) => {
      const scrubbed = scrubFailure({ ...failure, title: text, extra: { extra }, tags }, scrubber);
      expect(Object.keys(scrubbed)).toEqual(Object.keys(failure));
      expect(Object.values(scrubbed.tags ?? {}).every((value) => typeof value === 'string')).toBe(true);
      expect(scrubbed.errors).toEqual(failure.errors);
    }),
  );
});
