import { toIncidentHref } from '../../../shared/desk/href.ts';
import type { PlaceShape } from '../../../shared/desk/shapes.ts';
import { STATE_WORDS } from '../../../shared/desk/words.ts';
import { toCount, toPlural } from '../../../shared/words.ts';
import { splitKey } from '../store/incident-key.ts';
import type { ClaimedNotification } from '../store/notifications/claim-notification.ts';
import type { Day, NotificationKind, NotificationRecord } from '../store/notifications/notification-table.ts';
import type { Incident, StoredFailure } from '../store/records.ts';
import { presentIncident } from '../views/present-incident.ts';
import { presentTitle } from '../views/present-title.ts';

/** The incident in a message. It contains untrusted text, which each format makes harmless in its own way. */
export interface MessageIncident {
  readonly digest: string;
  readonly title: string;
  readonly kind: string;
  readonly state: string;
  readonly place: PlaceShape;
  readonly counts: { readonly server: number; readonly browser: number };
  readonly visitors: number;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly firstRelease: string;
  readonly lastRelease: string;
  /** The URL of the incident; only a path if the desk's origin is not configured. */
  readonly link: string;
}

/** A notification before it is formatted. */
export interface Message {
  /** The same in each try. */
  readonly uid: string;
  readonly kind: NotificationKind;
  readonly environment: string;
  /** The beginning of a subject: `New`, `Regression`, `Storm`. */
  readonly label: string;
  /** A sentence with the reason for the notification. */
  readonly why: string;
  readonly incident?: MessageIncident;
  /** Only in a summary. */
  readonly summed?: readonly { readonly label: string; readonly digest: string; readonly link: string }[];
  /** The URL to open if there is no incident. */
  readonly link: string;
  /** A hint about further messages. */
  readonly note?: string;
}

/** Facts about the server that messages need. */
export interface MessageFacts {
  readonly environment: string;
  readonly deskOrigin: string | undefined;
  /** Whether other environments use the store too. */
  readonly hasOthers: boolean;
}

export const LABELS: Readonly<Record<NotificationKind, string>> = {
  new: 'New',
  regressed: 'Regression',
  storming: 'Storm',
  assigned: 'Assigned',
  daily: 'Daily summary',
  summary: 'Summary',
  test: 'Test',
};

/** @param whole an occurrence that has the line */
export function toMessage(
  { notification, incident, summed, isLast }: ClaimedNotification,
  whole: StoredFailure | undefined,
  facts: MessageFacts,
): Message {
  const base = {
    uid: notification.uid,
    kind: notification.kind,
    environment: incident?.environment ?? facts.environment,
    label: LABELS[notification.kind],
    link: toLink('/desk', facts),
  };
  const { day } = notification.detail;
  if (day) return { ...base, why: toDayWords(day), summed: toListed(day, facts) };
  if (!incident) {
    return { ...base, why: toSummaryWords(summed?.count ?? 0), summed: toSummed(summed?.notifications ?? [], facts) };
  }
  return {
    ...base,
    why: toWhy(notification, incident),
    incident: toMessageIncident(incident, whole, facts),
    link: toIncidentLink(incident, facts),
    ...(isLast && {
      note: 'This is the last separate message for this hour. Further ones will be sent as one summary.',
    }),
  };
}

export function toTestMessage(uid: string, facts: MessageFacts): Message {
  return {
    uid,
    kind: 'test',
    environment: facts.environment,
    label: LABELS.test,
    why: 'This is a test that was sent from the desk. New incidents, regressions and storms will be sent here.',
    link: toLink('/desk/notifications', facts),
  };
}

function toLink(path: string, { deskOrigin = '' }: MessageFacts): string {
  return deskOrigin + path;
}

/** Returns the link of an incident. It names the environment if several share the store. */
function toIncidentLink(
  { digest, environment }: Pick<Incident, 'digest' | 'environment'>,
  facts: MessageFacts,
): string {
  return toLink(toIncidentHref(digest, undefined, facts.hasOthers ? environment : ''), facts);
}

function toWhy({ kind, detail }: NotificationRecord, { regressed, firstRelease }: Incident): string {
  if (kind === 'new') return `New incident${firstRelease ? `, first seen in release ${firstRelease}` : ''}.`;
  if (kind === 'regressed') {
    return `It came back after it was resolved${regressed?.release ? `, in release ${regressed.release}` : ''}.`;
  }
  if (kind === 'assigned') return `${detail.by} assigned it to ${detail.to}.`;
  if (detail.wasIgnored) return 'It exceeded the limit that it was ignored for, and is open again.';
  const most = detail.most ?? 0;
  const before =
    most > 0 ? `The busiest of the 24 hours before had ${toCount(most)}.` : 'It did not happen in the 24 hours before.';
  return `It happened ${toPlural(detail.count ?? 0, 'time')} this hour so far. ${before}`;
}

function toDayWords({ incidents, fresh, returned }: Day): string {
  return `In the last 24 hours, ${toPlural(incidents, 'open incident')} happened: ${toCount(fresh)} new, ${toPlural(returned, 'regression')}.`;
}

function toListed({ most }: Day, facts: MessageFacts): Message['summed'] {
  return most.map(({ digest, title, count }) => ({
    label: `${toPlural(count, 'time')}, ${title || digest}`,
    digest,
    link: toIncidentLink({ digest, environment: facts.environment }, facts),
  }));
}

function toSummaryWords(count: number): string {
  return `${toPlural(count, 'further message was', 'further messages were')} combined into this summary, because there were too many in an hour.`;
}

function toSummed(notifications: readonly NotificationRecord[], facts: MessageFacts): Message['summed'] {
  return notifications.flatMap(({ kind, digest: key }) => {
    if (key === undefined) return [];
    const { digest, environment = facts.environment } = splitKey(key);
    return [{ label: LABELS[kind], digest, link: toIncidentLink({ digest, environment }, facts) }];
  });
}

function toMessageIncident(incident: Incident, whole: StoredFailure | undefined, facts: MessageFacts): MessageIncident {
  const { place } = presentIncident(incident, whole);
  return {
    digest: incident.digest,
    title: presentTitle(incident) || incident.digest,
    kind: incident.kind,
    state: incident.regressed ? 'Regression' : STATE_WORDS[incident.state],
    place,
    counts: incident.counts,
    visitors: incident.visitors,
    firstAt: incident.firstAt,
    lastAt: incident.lastAt,
    firstRelease: incident.firstRelease,
    lastRelease: incident.lastRelease,
    link: toIncidentLink(incident, facts),
  };
}

/** Lists the names and values that each format lays out. */
export function listFacts({ incident, environment }: Message): readonly (readonly [name: string, value: string])[] {
  if (!incident) return [['Environment', environment]];
  const { place, counts, visitors } = incident;
  const line = place.file && place.line ? `${place.file}:${place.line}` : place.file;
  const where = [place.route, place.function && `${place.function}()`, line].filter(Boolean).join(' · ');
  const sides = (['server', 'browser'] as const).filter((side) => counts[side] > 0);
  const count = sides.map((side) => `${toCount(counts[side])} on the ${side}`).join(', ');
  const releases = [...new Set([incident.firstRelease, incident.lastRelease])].filter(Boolean).join(' to ');
  return [
    ['State', incident.state],
    ...(where ? [['Where', where] as const] : []),
    ['Times', visitors > 0 ? `${count}; ${toPlural(visitors, 'visitor')}` : count],
    ...(releases ? [['Release', releases] as const] : []),
    ['Environment', environment],
    ['Digest', incident.digest],
  ];
}
