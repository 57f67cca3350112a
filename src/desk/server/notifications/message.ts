import { toIsoTime } from '../../../shared/words.ts';
import { SIDES } from '../../shared/choices.ts';
import { toIncidentHref } from '../../shared/href.ts';
import { toCount, toPlural } from '../../shared/words.ts';
import type { ClaimedMessage, NotificationEvent } from '../store/notification-table.ts';
import type { Incident } from '../store/records.ts';
import { presentTitle } from '../views/present-incident-row.ts';

/** One incident in a message. It contains untrusted text, which each format makes harmless in its own way. */
interface MessageItem {
  readonly event: NotificationEvent;
  /** A sentence with the reason for the notification. */
  readonly why: string;
  readonly incident: Incident;
  /** The URL of the incident. Only a path if the desk's origin is not configured. */
  readonly link: string;
}

/** A message before it is formatted. */
export interface Message {
  /** The same in each attempt. */
  readonly id: string;
  /** The environments of the incidents. Servers of several can share the store and the target. */
  readonly environment: string;
  /** Empty for a test. */
  readonly items: readonly MessageItem[];
  /** The URL of the desk. */
  readonly link: string;
}

/** Facts about the server that messages need. */
export interface MessageFacts {
  readonly environment: string;
  readonly deskOrigin: string | undefined;
}

/** The beginnings of subjects. */
export const EVENT_LABELS: Readonly<Record<NotificationEvent, string>> = {
  new: 'New',
  regressed: 'Regression',
  frequent: 'Frequent',
};

const TEST = 'This is a test from the desk. New, regressed and frequent incidents will be sent here.';

/** @param claimed undefined for a test */
export function toMessage(
  claimed: Pick<ClaimedMessage, 'id' | 'items'>,
  { environment, deskOrigin = '' }: MessageFacts,
): Message {
  const items = claimed.items.map(({ event, incident }) => ({
    event,
    why: incident.kind === 'server-exit' ? `${toWhy(event, incident)} It ended the server.` : toWhy(event, incident),
    incident,
    link: deskOrigin + toIncidentHref(incident.digest, undefined, incident.environment, environment),
  }));
  const environments = new Set(claimed.items.map(({ incident }) => incident.environment));
  return {
    id: claimed.id,
    environment: environments.size > 0 ? [...environments].join(', ') : environment,
    items,
    link: `${deskOrigin}/desk`,
  };
}

function toWhy(event: NotificationEvent, { counts, regressedIn, firstRelease }: Incident): string {
  switch (event) {
    case 'new':
      return `New incident${firstRelease ? `, first seen in release ${firstRelease}` : ''}.`;
    case 'regressed':
      return `It returned after it was resolved${regressedIn ? `, in release ${regressedIn}` : ''}.`;
    default:
      return `It has happened ${toPlural(counts.server + counts.browser, 'time')}.`;
  }
}

/** Lists names and values of an incident that people read. */
function listFacts({ incident }: MessageItem): readonly (readonly [name: string, value: string])[] {
  const { location, locationLine, route, counts, visitors, lastRelease } = incident;
  const file = location && (locationLine === undefined ? location.path : `${location.path}:${locationLine}`);
  const where = [route, location?.function && `${location.function}()`, file].filter(Boolean).join(' · ');
  const sides = SIDES.filter((side) => counts[side] > 0);
  const times = sides.map((side) => `${toCount(counts[side])} on the ${side}`).join(', ');
  return [
    ...(where ? [['Where', where] as const] : []),
    ['Times', visitors > 0 ? `${times}; ${toPlural(visitors, 'visitor')}` : times],
    ...(lastRelease ? [['Release', lastRelease] as const] : []),
    ['Digest', incident.digest],
  ];
}

/** Returns the subject of a message, or its first line. */
function toSubject({ environment, items }: Message): string {
  const [first] = items;
  if (!first) return `[${environment}] Test`;
  if (items.length > 1) return `[${environment}] ${toPlural(items.length, 'incident')}`;
  return `[${environment}] ${EVENT_LABELS[first.event]}: ${presentTitle(first.incident)}`;
}

/** Returns a message as plain text, for mail, Slack and Discord. Untrusted text becomes neither markup nor a link. */
function toMessageText(message: Message): string {
  const { items, link } = message;
  if (items.length === 0) return `${TEST}\n${link}`;
  return items
    .map((item) =>
      [
        `${EVENT_LABELS[item.event]}: ${defuse(presentTitle(item.incident))}`,
        defuse(item.why),
        ...listFacts(item).map(([name, value]) => `${name}: ${defuse(value)}`),
        item.link,
      ].join('\n'),
    )
    .join('\n\n');
}

/** Longest subject (characters). */
const MAX_SUBJECT = 140;

export function toMail(message: Message): { readonly subject: string; readonly text: string } {
  return { subject: defuse(toSubject(message), MAX_SUBJECT), text: `${toMessageText(message)}\n` };
}

/** Discord accepts this many characters in `content`. */
const MAX_CONTENT = 2000;

/**
 * Returns the JSON that `docs/desk.md` describes. Slack and compatible receivers show `text`, Discord shows `content`, and
 * each ignores the rest. Other receivers must escape the texts in `incidents` for where they show them.
 */
export function toJson(message: Message, now: number): string {
  const { id, environment, items, link } = message;
  const text = toMessageText(message);
  return JSON.stringify({
    id,
    event: items.length === 1 ? `incident.${items[0]?.event}` : items.length === 0 ? 'test' : 'incidents',
    at: toIsoTime(now),
    environment,
    link,
    incidents: items.map(({ event, why, incident, link: own }) => ({
      event,
      why,
      link: own,
      digest: incident.digest,
      environment: incident.environment,
      title: presentTitle(incident),
      kind: incident.kind,
      route: incident.route,
      file: incident.location?.path,
      line: incident.location && incident.locationLine,
      function: incident.location?.function,
      counts: incident.counts,
      visitors: incident.visitors,
      lastRelease: incident.lastRelease,
    })),
    text,
    unfurl_links: false,
    content: text.length > MAX_CONTENT ? `${text.slice(0, MAX_CONTENT - 1).toWellFormed()}…` : text,
    allowed_mentions: { parse: [] },
  });
}

/**
 * Invisible characters, and characters that change the writing direction: controls, format characters, line separators.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu;

/** Characters that look the same but format nothing. */
const MARKS: Readonly<Record<string, string>> = { '*': '∗', '`': 'ˋ', '~': '∼' };

/** A zero-width space. */
const BREAK = '\u200B';

/**
 * Prevents programs from turning untrusted text into links or mentions, even if they detect URLs: `https://`,
 * `evil.example`, `@here`, `](`. The text looks the same. It becomes one line and is cut to `maxLength`.
 *
 * @param maxLength characters
 */
function defuse(text: string, maxLength = 250): string {
  const line = text.toWellFormed().replace(UNSEEN, ' ').replace(/\s+/g, ' ').trim();
  const cut = line.length > maxLength ? `${line.slice(0, maxLength - 1).toWellFormed()}…` : line;
  return cut
    .replaceAll('@', `@${BREAK}`)
    .replaceAll('<', `<${BREAK}`)
    .replace(/[*~`]/g, (mark) => MARKS[mark] ?? mark)
    .replace(/:(?=\/\/)/g, `:${BREAK}`)
    .replace(/\b(mailto|tel|javascript|data)(:)/gi, `$1${BREAK}$2`)
    .replace(/\](?=[([:])/g, `]${BREAK}`)
    .replace(/(?<=[\p{L}\d-])\.(?=\p{L}{2})/gu, `.${BREAK}`);
}
