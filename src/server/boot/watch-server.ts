import { Second } from '../../shared/units.ts';
import type { Desk } from '../desk/desk.ts';
import type { Connections } from '../engine/connection/connections.ts';
import type { Drain } from '../engine/connection/drain.ts';
import type { InFlight } from '../engine/connection/in-flight.ts';
import type { Metrics } from '../engine/monitoring/metrics.ts';
import type { Overload } from '../engine/protection/overload.ts';
import type { RenderLimiter } from '../engine/protection/render-limiter.ts';
import type { Outbox } from '../sentry/outbox.ts';

export interface WatchedServer {
  readonly metrics: Pick<Metrics, 'gauge' | 'gauges'>;
  readonly inFlight: Pick<InFlight, 'size'>;
  readonly connections: Pick<Connections, 'sockets'>;
  readonly drain: Pick<Drain, 'draining'>;
  readonly desk: Pick<
    Desk,
    'condition' | 'waitingBytes' | 'arriving' | 'pendingQuestions' | 'storedBytes' | 'clockSkew'
  >;
  readonly limiter?: Pick<RenderLimiter, 'pages' | 'queued'>;
  readonly overload?: Pick<Overload, 'level'> | undefined;
  readonly outbox?: Pick<Outbox, 'bytes'> | undefined;
}

/** The figures that are read when somebody asks for the metrics. */
export function watchServer(server: WatchedServer): void {
  const { metrics, inFlight, connections, drain, desk, limiter, overload, outbox } = server;
  const { gauge, gauges } = metrics;
  gauge('http_server_active_requests', 'Requests that are being answered.', () => inFlight.size);
  gauge('spillway_open_connections', 'Sockets that are open on PORT.', () => connections.sockets.size);
  gauge('spillway_draining', '1 from the request to stop on.', () => Number(drain.draining));
  gauge('spillway_store_reachable', "1 where the desk's store can be used.", () => {
    return Number(desk.condition.store === 'reachable');
  });
  gauge(
    'spillway_journal_waiting_bytes',
    'What of the journal is not in the store yet: it grows where the store is away.',
    () => desk.waitingBytes,
  );
  gauges('spillway_desk_store_bytes', 'Size of the tables of the desk when they were last measured.', 'table', () => {
    return desk.storedBytes;
  });
  gauge(
    'spillway_desk_clock_skew_seconds',
    "How far the clock of this server is ahead of that of the desk's store: beyond minutes nothing is deleted.",
    () => desk.clockSkew / Second,
  );
  gauge(
    'spillway_journal_waiting_failures',
    'Failures of this process that are in its journal and not in the store yet.',
    () => desk.arriving.count,
  );
  gauge('spillway_desk_worker_running', '1 if the desk worker runs and answers.', () => {
    return Number(desk.condition.worker === 'running');
  });
  gauge('spillway_desk_questions_pending', 'Questions that the desk worker has not answered yet.', () => {
    return desk.pendingQuestions;
  });
  if (limiter) {
    gauge(
      'spillway_pages_in_progress',
      'Pages that are being made: from the first guard to the shell, and renders of static pages.',
      () => limiter.pages,
    );
    gauge('spillway_renders_queued', 'Pages that wait for their turn to be rendered.', () => limiter.queued);
  }
  if (overload) {
    gauge(
      'spillway_overload_level',
      'What is refused: 0 nothing, 1 prefetches, 2 pages too, 3 forms and the API too.',
      () => overload.level,
    );
  }
  if (outbox) {
    gauge('spillway_outbox_bytes', 'What waits for the error-reporting service, on the disk.', () => outbox.bytes);
  }
}
