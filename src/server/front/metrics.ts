// Not from the package's index: it also loads cluster, https and everything that TLS needs, a tenth of a start.
import Counter from 'prom-client/lib/counter.js';
import collectDefaultMetrics from 'prom-client/lib/defaultMetrics.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';
import Registry from 'prom-client/lib/registry.js';
import { COUNTERS, type Count, type CounterTable } from '../request/counters.ts';
import { METHODS } from '../request/step.ts';

/** A reply that has ended. */
interface EndedRequest {
  readonly method: string;
  /** The pattern of the route that answered; undefined if none did. */
  readonly route: string | undefined;
  readonly status: number;
  /** The visitor left before the reply was complete. */
  readonly isGone: boolean;
  readonly ms: number;
}

/** The metrics that operators see. */
export type Metrics = ReturnType<typeof createMetrics>;

/** The label of requests that no route answered. */
const UNMATCHED = 'unmatched';

interface MetricsOptions {
  /** Names this build in `spillway_build_info`. */
  readonly build: string;
  readonly release: string;
  /** Also measures the process: CPU, memory, heap, garbage collection, delay of the event loop. */
  readonly process?: boolean;
}

/** OpenTelemetry's buckets for `http.server.request.duration` (seconds). */
const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** Resolution of the event loop's delay (ms): each measurement wakes the process. */
const LOOP_RESOLUTION = 20;

/** Creates the registry of one process. */
export function createMetrics({ build, release, process: watched = false }: MetricsOptions) {
  const registry = new Registry();

  /** Adds counters. @returns the function that increases them */
  function addCounters<Table extends CounterTable>(table: Table): Count<Table> {
    const counters = new Map<keyof Table, Counter>();
    for (const [name, { help, labels = [], zero = [] }] of Object.entries(table)) {
      const counter = new Counter({ name, help, labelNames: [...labels], registers: [registry] });
      for (const series of zero) counter.inc(series, 0);
      counters.set(name, counter);
    }
    return (name, labels, by = 1) => counters.get(name)?.inc(labels, by);
  }

  const durations = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Duration of responses until their last byte, or until the visitor left, without server-sent events.',
    labelNames: ['http_request_method', 'http_route', 'http_response_status_class'],
    buckets: DURATION_BUCKETS,
    registers: [registry],
  });
  const findSeries = createSeriesFinder(durations);
  new Gauge({
    name: 'spillway_build_info',
    help: 'Always 1. The labels name the running build.',
    labelNames: ['build', 'release', 'node'],
    registers: [registry],
  }).set({ build, release, node: process.version }, 1);
  if (watched) collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_RESOLUTION });

  return {
    count: addCounters(COUNTERS),
    addCounters,
    observeRequest({ method, route, status, isGone, ms }: EndedRequest): void {
      const known = METHODS.has(method) ? method : '_OTHER';
      const series = findSeries(known, route ?? UNMATCHED, isGone ? 'gone' : `${Math.floor(status / 100)}xx`);
      const seconds = ms / 1000;
      const bucket = DURATION_BUCKETS.find((bound) => seconds <= bound);
      if (bucket !== undefined) series.bucketValues[bucket] = (series.bucketValues[bucket] ?? 0) + 1;
      series.sum += seconds;
      series.count += 1;
    },
    /** Adds a gauge that is read on each scrape. If `read` throws, it is left out. */
    gauge(name: string, help: string, read: () => number | Promise<number>): void {
      new Gauge({
        name,
        help,
        registers: [registry],
        async collect() {
          try {
            this.set(await read());
          } catch {
            this.remove();
          }
        },
      });
    },
    contentType: registry.contentType,
    /** Returns all metrics in the text format of Prometheus. */
    write: () => registry.metrics(),
  };
}

/** The requests of one method, route and status class, as `prom-client` keeps and exports them. */
interface Series {
  /** How many each bucket has alone, by its bound. */
  readonly bucketValues: Record<number, number>;
  sum: number;
  count: number;
}

/** Looks up the series of a histogram. Its own `observe()` sorts and joins the labels: 5 % of an API answer. */
function createSeriesFinder(durations: Histogram): (method: string, route: string, status: string) => Series {
  const found = new Map<string, Series>();
  const { hashMap } = durations as unknown as { hashMap: Readonly<Record<string, Series>> };
  return (method, route, status) => {
    const key = `${method} ${status} ${route}`;
    const known = found.get(key);
    if (known) return known;
    durations.zero({ http_request_method: method, http_route: route, http_response_status_class: status });
    const series = Object.values(hashMap).at(-1) as Series; // the one that was added just now
    found.set(key, series);
    return series;
  };
}
