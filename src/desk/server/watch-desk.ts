import type { Metrics } from '../../server/front/metrics.ts';
import type { Desk } from './desk.ts';

type WatchedDesk = Pick<Desk, 'condition' | 'waitingBytes' | 'pendingCalls' | 'storedBytes'>;

/** Registers the gauges of the desk. */
export function watchDesk({ gauge }: Pick<Metrics, 'gauge'>, desk: WatchedDesk): void {
  gauge('spillway_store_reachable', '1 if the store of the desk is available.', () => {
    return Number(desk.condition.store === 'reachable');
  });
  gauge(
    'spillway_journal_waiting_bytes',
    'Bytes of the journal that are not in the store yet. They grow while the store is unavailable.',
    () => desk.waitingBytes,
  );
  gauge('spillway_desk_store_bytes', 'Size of what the desk stores at the last measurement.', () => desk.storedBytes);
  gauge('spillway_desk_worker_running', '1 if the desk worker is running and responsive.', () => {
    return Number(desk.condition.worker === 'running');
  });
  gauge('spillway_desk_calls_pending', 'Calls that the desk worker has not answered yet.', () => {
    return desk.pendingCalls;
  });
}
