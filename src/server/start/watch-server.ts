import type { Connections } from '../connection/connections.ts';
import type { Drain } from '../connection/drain.ts';
import type { InFlight } from '../front/access-log.ts';
import type { Metrics } from '../front/metrics.ts';
import type { Overload } from '../front/overload.ts';
import type { RenderLimiter } from '../front/render-limiter.ts';

interface WatchedServer {
  readonly metrics: Pick<Metrics, 'gauge'>;
  readonly inFlight: Pick<InFlight, 'size'>;
  readonly connections: Pick<Connections, 'sockets'>;
  readonly drain: Pick<Drain, 'draining'>;
  readonly limiter?: Pick<RenderLimiter, 'pages' | 'queued'>;
  readonly overload?: Pick<Overload, 'level'> | undefined;
}

/** Registers the gauges that are read with the metrics. */
export function watchServer(server: WatchedServer): void {
  const { metrics, inFlight, connections, drain, limiter, overload } = server;
  const { gauge } = metrics;
  gauge('http_server_active_requests', 'Requests in flight.', () => inFlight.size);
  gauge('spillway_open_connections', 'Open sockets on PORT.', () => connections.sockets.size);
  gauge('spillway_draining', '1 while the server is stopping.', () => Number(drain.draining));
  if (limiter) {
    gauge(
      'spillway_pages_in_progress',
      'Pages in progress: from the first guard to the shell, and renders of static pages.',
      () => limiter.pages,
    );
    gauge('spillway_renders_queued', 'Pages that wait for a render slot.', () => limiter.queued);
  }
  if (overload) {
    gauge(
      'spillway_overload_level',
      'Waiting work against its limits. Refused are prefetches from 0.5 on, pages from 1, forms and the API from 4.',
      () => overload.level,
    );
  }
}
