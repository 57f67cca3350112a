import type { Failure } from '../../src/server/errors/failure.ts';

/** A failure of a loader with every field that a server can fill, and without secrets. */
export const FAILURE: Failure = {
  ...{ id: '0123456789abcdef0123456789abcdef', digest: '7K3QM2XA', occurrence: '9F4W0R6B' },
  ...{ kind: 'exception', side: 'server', origin: 'loader', at: 1_795_000_000_500 },
  ...{ build: 'a29092e775f1', release: 'v1.4.0', route: '/orders/:id', routeId: 'order', requestId: 'req-1' },
  ...{ traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' },
  title: 'Error: The order cannot be shown.',
  errors: [
    {
      class: 'Error',
      message: 'The order cannot be shown.',
      frames: [
        { file: 'server/main.js', line: 10, column: 5, function: 'showOrder' },
        { file: 'node_modules/express/lib/router.js', line: 3, column: 1, function: '' },
      ],
    },
    {
      class: 'Error',
      message: 'connect',
      code: 'ECONNREFUSED',
      frames: [{ file: 'node:net', line: 0, column: 0, function: 'connect' }],
    },
  ],
  location: { path: 'src/server/product/pages/orders.ts', function: 'showOrder', detail: 'throw new Error("x")' },
  request: {
    ...{ method: 'GET', url: '/orders/7?page=2', headers: { accept: 'text/html' }, credentials: ['sid'] },
    body: { fields: { name: 'string' } },
  },
  breadcrumbs: [{ at: 1_795_000_000_000, category: 'fetch', message: 'GET /x', data: { status: 500 } }],
  tags: { plan: 'pro' },
  extra: { deep: { a: { b: { c: { d: 1 } } } } },
  componentStack: '\n    at Order',
};
