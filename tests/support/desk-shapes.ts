import type {
  FullShape,
  IncidentData,
  IncidentRow,
  IncidentsData,
  OccurrenceShape,
} from '../../src/shared/desk/shapes.ts';
import { Day, Hour, Minute, Second } from '../../src/shared/units.ts';

/** The current time in tests of pages. */
export const NOW = Date.UTC(2026, 10, 21, 20, 31, 7);

/** A full occurrence, for tests that render a page of the desk. */
export function fullShape(more: Partial<FullShape> = {}): FullShape {
  return {
    origin: 'while a loader ran',
    level: 'error',
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    spanId: '00f067aa0ba902b7',
    errors: [
      {
        class: 'TypeError',
        message: "Cannot read properties of undefined (reading 'total')",
        members: [],
        frames: [
          {
            file: 'src/server/product/pages/cart.ts',
            line: 24,
            column: 31,
            function: 'loadCart',
            isOwn: true,
            isEngine: false,
            isAsync: false,
            link: 'https://code.example/shop/blob/v1.4.0/src/server/product/pages/cart.ts#L24',
            source: {
              start: 19,
              lines: [
                [
                  ['keyword', 'async function'],
                  ' loadCart({ params, context }: ',
                  'LoaderArgs<AppContext>): Promise<CartData> {',
                ],
                ['  ', ['comment', '// The cart of a visitor who was away for long is gone.']],
                ['  ', ['keyword', 'const'], ' cart = ', ['keyword', 'await'], ' carts.find(params.id);'],
                ['  ', ['keyword', 'const'], ' currency = context.settings.currency ?? ', ['string', "'EUR'"], ';'],
                [],
                ['  ', ['keyword', 'return'], ' { total: cart.order.total * ', ['literal', '1.19'], ', currency };'],
                ['}'],
                [],
                [['keyword', 'export const'], ' cart = { loader: loadCart };'],
              ],
            },
          },
          {
            file: 'node_modules/pg-pool/index.js',
            line: 45,
            column: 11,
            function: '',
            isOwn: false,
            isEngine: false,
            isAsync: false,
          },
          {
            file: 'node:internal/process/task_queues',
            line: 105,
            column: 5,
            function: 'process.processTicksAndRejections',
            isOwn: false,
            isEngine: false,
            isAsync: false,
          },
          {
            file: 'src/server/engine/pages/load-page.ts',
            line: 96,
            column: 22,
            function: 'runLoader',
            isOwn: true,
            isEngine: true,
            isAsync: true,
            source: {
              start: 95,
              lines: [
                ['  ', ['keyword', 'try'], ' {'],
                ['    ', ['keyword', 'return'], ' ', ['keyword', 'await'], ' page.loader(args);'],
                ['  } ', ['keyword', 'catch'], ' (thrown) {'],
              ],
            },
          },
        ],
      },
      {
        class: 'DatabaseError',
        message: 'relation "carts" does not exist',
        code: '42P01',
        members: [],
        frames: [
          {
            file: 'node_modules/pg-protocol/dist/parser.js',
            line: 285,
            column: 98,
            function: 'Parser.parseErrorMessage',
            isOwn: false,
            isEngine: false,
            isAsync: false,
          },
        ],
      },
    ],
    stackText:
      'TypeError: Cannot read properties of undefined (reading \'total\')\n    at loadCart (src/server/product/pages/cart.ts:24:31)\ncaused by DatabaseError: relation "carts" does not exist',
    request: {
      method: 'GET',
      url: '/orders/7?tab=items',
      referrer: 'https://shop.example/orders',
      agent: {
        words: 'Safari 17.4 on iPhone (iOS 17.4)',
        raw: 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1',
      },
      headers: [
        ['accept', 'text/html'],
        ['accept-language', 'de-DE,de;q=0.9'],
        ['cookie', '[redacted]'],
      ],
    },
    components: [],
    breadcrumbs: [
      {
        at: NOW - 3 * Minute - 14 * Second,
        category: 'navigation',
        message: 'from /orders to /orders/7',
        level: 'info',
        data: [],
      },
      {
        at: NOW - 3 * Minute - 2 * Second,
        category: 'fetch',
        message: 'GET https://api.example.com/carts/7',
        level: 'info',
        data: [
          ['status', '200'],
          ['ms', '84'],
        ],
      },
      {
        at: NOW - 3 * Minute - 400,
        category: 'console',
        message: 'The cart has no order.',
        level: 'warning',
        data: [],
      },
    ],
    tags: [['plan', 'business']],
    extra: [['cart', '{"id":7,"items":[]}']],
    cut: [],
    ...more,
  };
}

export function occurrenceShape(more: Partial<OccurrenceShape> = {}): OccurrenceShape {
  return {
    occurrence: '9F4W0R6B',
    at: NOW - 3 * Minute,
    side: 'server',
    release: 'v1.4.0',
    build: 'X7K2QM2X',
    route: '/orders/:id',
    requestId: '0f8e1c52-7d53-4d5e-9f0e-3f1a2b6c7d8e',
    visitor: 'kq3xYw7bVb0J2k1p',
    full: fullShape(),
    ...more,
  };
}

const DAY_COUNTS = [0, 0, 1, 0, 2, 0, 0, 5, 3, 8, 13, 9, 4, 6, 12, 30, 22, 18, 9, 4, 7, 3, 5, 11];
const FORTNIGHT_COUNTS = [0, 0, 0, 0, 0, 0, 0, 0, 12, 40, 33, 61, 90, 172];

/** An incident with one full occurrence, as an operator sees it. */
export function incidentData(more: Partial<IncidentData> = {}): IncidentData {
  return {
    now: NOW,
    operator: { name: 'ada', canChange: true },
    digest: '7K3QM2XA',
    environment: 'production',
    scope: '',
    elsewhere: [],
    kind: 'exception',
    title: "TypeError: Cannot read properties of undefined (reading 'total')",
    message: "Cannot read properties of undefined (reading 'total')",
    place: { route: '/orders/:id', file: 'src/server/product/pages/cart.ts', line: 24, function: 'loadCart' },
    status: { state: 'open' },
    version: '3',
    counts: { server: 408, browser: 12 },
    visitors: 131,
    firstAt: NOW - 6 * Day,
    lastAt: NOW - 3 * Minute,
    day: { start: NOW - 24 * Hour, step: Hour, counts: DAY_COUNTS },
    fortnight: { start: NOW - 14 * Day, step: Day, counts: FORTNIGHT_COUNTS },
    marks: [
      { at: NOW - 6 * Day, release: 'v1.3.2' },
      { at: NOW - 14 * Hour, release: 'v1.4.0' },
    ],
    releases: [
      {
        release: 'v1.3.2',
        build: 'A2K2QM2X',
        firstAt: NOW - 6 * Day,
        lastAt: NOW - 14 * Hour,
        count: 236,
        isRegression: false,
      },
      {
        release: 'v1.4.0',
        build: 'X7K2QM2X',
        firstAt: NOW - 14 * Hour,
        lastAt: NOW - 3 * Minute,
        count: 184,
        isRegression: true,
      },
    ],
    shown: occurrenceShape(),
    older: '2M3KQ7XA',
    recent: [
      { occurrence: '9F4W0R6B', at: NOW - 3 * Minute, side: 'server', release: 'v1.4.0' },
      { occurrence: '2M3KQ7XA', at: NOW - 9 * Minute, side: 'browser', release: 'v1.4.0' },
    ],
    similar: [
      {
        digest: '2QM7K3XA',
        kind: 'exception',
        title: "TypeError: Cannot read properties of undefined (reading 'items')",
        state: 'resolved',
        lastAt: NOW - 3 * Day,
        count: 17,
        because: 'file',
      },
    ],
    changes: [
      {
        id: 'n2',
        at: NOW - 5 * Minute,
        by: 'ada',
        words: 'wrote',
        note: { id: 2, text: 'The migration of carts did not run on this replica.' },
      },
      { id: 'c1', at: NOW - 14 * Hour, by: 'desk', words: 'reopened it: it came back in v1.4.0' },
    ],
    ...more,
  };
}

/** A row of the incident list. */
export function incidentRow(more: Partial<IncidentRow> = {}): IncidentRow {
  return {
    digest: '7K3QM2XA',
    environment: 'production',
    kind: 'exception',
    title: "TypeError: Cannot read properties of undefined (reading 'total')",
    place: { route: '/orders/:id', file: 'src/server/product/pages/cart.ts', line: 24, function: 'loadCart' },
    status: { state: 'open' },
    counts: { server: 408, browser: 12 },
    visitors: 131,
    firstAt: NOW - 6 * Day,
    lastAt: NOW - 3 * Minute,
    firstRelease: 'v1.3.2',
    lastRelease: 'v1.4.0',
    chart: { start: NOW - 24 * Hour, step: Hour, counts: DAY_COUNTS },
    ...more,
  };
}

export function incidentsData(more: Partial<IncidentsData> = {}): IncidentsData {
  return {
    now: NOW,
    operator: { name: 'ada', canChange: true },
    view: {
      state: 'open',
      sort: 'last',
      span: '24h',
      search: '',
      side: '',
      kind: '',
      route: '',
      release: '',
      environment: '',
      within: '',
    },
    rows: [incidentRow()],
    totals: { open: 1, resolved: 12, ignored: 3 },
    choices: {
      routes: ['/orders/:id', '/'],
      releases: ['v1.4.0', 'v1.3.2'],
    },
    isNew: false,
    ...more,
  };
}
