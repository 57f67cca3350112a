import { toIncidentHref } from '../../../shared/desk/href.ts';
import type { PlaceShape } from '../../../shared/desk/shapes.ts';
import { STATE_WORDS, toCount, toPlural } from '../../../shared/desk/words.ts';
import { splitKey } from '../store/incident-key.ts';
import type { ClaimedNotice } from '../store/notifications/claim-notification.ts';
import type { Notice, NoticeKind } from '../store/notifications/notification-table.ts';
import type { Incident, StoredFailure } from '../store/records.ts';
import { presentIncident } from '../views/present-incident.ts';
import { presentTitle } from '../views/present-title.ts';

/** An incident as a message tells of it. What strangers wrote is in it: each format makes it harmless in its own way. */
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
  /** Where the desk shows it; its path alone where nobody said where the desk is. */
  readonly link: string;
}

/** What is told, in no format yet. */
export interface Message {
  /** The same with each try. */
  readonly uid: string;
  readonly kind: NoticeKind;
  readonly environment: string;
  /** `New`, `Regression`, `Storm`: what a subject begins with. */
  readonly label: string;
  /** Why somebody is told, in a sentence. */
  readonly why: string;
  readonly incident?: MessageIncident;
  /** Of a summary. */
  readonly summed?: readonly { readonly label: string; readonly digest: string; readonly link: string }[];
  /** Where to look, without an incident. */
  readonly link: string;
  /** What the reader should know of what comes after. */
  readonly note?: string;
}

/** What messages know of the site. */
export interface MessageFacts {
  readonly environment: string;
  readonly deskOrigin: string | undefined;
  /** Other environments use the store too. */
  readonly hasOthers: boolean;
}

export const LABELS: Readonly<Record<NoticeKind, string>> = {
  new: 'New',
  regressed: 'Regression',
  storming: 'Storm',
  summary: 'Summary',
  test: 'Test',
};

/** @param whole an occurrence that knows the line */
export function toMessage(
  { notice, incident, summed, isLast }: ClaimedNotice,
  whole: StoredFailure | undefined,
  facts: MessageFacts,
): Message {
  const base = {
    uid: notice.uid,
    kind: notice.kind,
    environment: incident?.environment ?? facts.environment,
    label: LABELS[notice.kind],
    link: toLink('/desk', facts),
  };
  if (!incident) {
    return { ...base, why: toSummaryWords(summed?.count ?? 0), summed: toSummed(summed?.notices ?? [], facts) };
  }
  return {
    ...base,
    why: toWhy(notice, incident),
    incident: toMessageIncident(incident, whole, facts),
    link: toIncidentLink(incident, facts),
    ...(isLast && { note: 'This was the last message of its own for this hour: what follows is told in one summary.' }),
  };
}

export function toTestMessage(uid: string, facts: MessageFacts): Message {
  return {
    uid,
    kind: 'test',
    environment: facts.environment,
    label: LABELS.test,
    why: 'Somebody pressed “Send a test” at the desk. New incidents, regressions and storms will arrive here.',
    link: toLink('/desk/notifications', facts),
  };
}

function toLink(path: string, { deskOrigin = '' }: MessageFacts): string {
  return deskOrigin + path;
}

/** Several environments may name one desk, whose server is of one of them: then the link names its own. */
function toIncidentLink(
  { digest, environment }: Pick<Incident, 'digest' | 'environment'>,
  facts: MessageFacts,
): string {
  return toLink(toIncidentHref(digest, undefined, facts.hasOthers ? environment : ''), facts);
}

function toWhy({ kind, detail }: Notice, { regressed, firstRelease }: Incident): string {
  if (kind === 'new') return `It is new${firstRelease ? `, in release ${firstRelease}` : ''}.`;
  if (kind === 'regressed') {
    return `It came back after it was resolved${regressed?.release ? `, in release ${regressed.release}` : ''}.`;
  }
  if (detail.wasIgnored) return 'It grew past what it was ignored until, and is open again.';
  const most = detail.most ?? 0;
  const before = most > 0 ? `in the busiest of the 24 hours before ${toCount(most)}` : 'in the 24 hours before none';
  return `It storms: ${toPlural(detail.count ?? 0, 'time')} this hour by now, ${before}.`;
}

function toSummaryWords(count: number): string {
  return `${toPlural(count, 'further message was', 'further messages were')} not sent one by one, because there were too many in an hour.`;
}

function toSummed(notices: readonly Notice[], facts: MessageFacts): Message['summed'] {
  return notices.flatMap(({ kind, digest: key }) => {
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

/** `Where` and the like with what they stand for: what each format lays out in its own way. */
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
