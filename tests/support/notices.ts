import type { ClaimedNotification } from '../../src/server/desk/store/notifications/claim-notification.ts';
import type { NotificationRecord } from '../../src/server/desk/store/notifications/notification-table.ts';
import type { Incident } from '../../src/server/desk/store/records.ts';

/** An incident as the store returns it, with the given properties. */
export function incidentOf(wanted: Partial<Incident> = {}): Incident {
  return {
    key: '7K3QM2XA',
    digest: '7K3QM2XA',
    environment: 'production',
    rule: 2,
    kind: 'exception',
    title: 'TypeError: boom',
    class: 'TypeError',
    message: 'boom',
    site: { path: 'src/server/product/pages/cart.ts', function: 'load', detail: '' },
    route: '/orders/:id',
    weak: false,
    state: 'open',
    version: 0,
    firstSide: 'server',
    firstAt: Date.UTC(2026, 10, 21, 20, 0, 0),
    lastAt: Date.UTC(2026, 10, 21, 20, 31, 7),
    firstRelease: 'v1',
    firstBuild: 'build-1',
    lastRelease: 'v2',
    lastBuild: 'build-2',
    counts: { server: 1200, browser: 3 },
    visitors: 7,
    aliases: [],
    ...wanted,
  };
}

/** A notification claimed from the store. */
export function claimedOf(
  wanted: Partial<NotificationRecord> = {},
  more: Omit<Partial<ClaimedNotification>, 'notice'> = {},
): ClaimedNotification {
  const notification: NotificationRecord = {
    id: 1,
    uid: '0123456789abcdef',
    target: 'hook',
    targetName: 'Webhook hooks.example.com',
    kind: 'new',
    digest: '7K3QM2XA',
    detail: {},
    madeAt: 0,
    state: 'waiting',
    dueAt: 0,
    tries: 1,
    outcome: '',
    ...wanted,
  };
  return { notification, isLast: false, ...(notification.kind !== 'summary' && { incident: incidentOf() }), ...more };
}
