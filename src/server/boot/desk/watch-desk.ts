import { Second } from '../../../shared/units.ts';
import type { Desk } from '../../desk/desk.ts';
import type { Metrics } from '../../engine/monitoring/metrics.ts';

export type WatchedDesk = Pick<
  Desk,
  'condition' | 'waitingBytes' | 'arriving' | 'pendingQuestions' | 'storedBytes' | 'clockSkew'
>;

/** Registers the gauges of the desk. */
export function watchDesk({ gauge, gauges }: Pick<Metrics, 'gauge' | 'gauges'>, desk: WatchedDesk): void {
  gauge('spillway_store_reachable', '1 if the store of the desk is available.', () => {
    return Number(desk.condition.store === 'reachable');
  });
  gauge(
    'spillway_journal_waiting_bytes',
    'Bytes of the journal that are not in the store yet. They grow while the store is unavailable.',
    () => desk.waitingBytes,
  );
  gauges('spillway_desk_store_bytes', "Size of the desk's tables at the last measurement.", 'table', () => {
    return desk.storedBytes;
  });
  gauge(
    'spillway_desk_clock_skew_seconds',
    "How far this server's clock is ahead of the store's clock. If they differ by more than 5 minutes, nothing is deleted.",
    () => desk.clockSkew / Second,
  );
  gauge(
    'spillway_journal_waiting_failures',
    'Failures in the journal of this process that are not in the store yet.',
    () => desk.arriving.count,
  );
  gauge('spillway_desk_worker_running', '1 if the desk worker is running and responsive.', () => {
    return Number(desk.condition.worker === 'running');
  });
  gauge('spillway_desk_questions_pending', 'Calls that the desk worker has not answered yet.', () => {
    return desk.pendingQuestions;
  });
}
