import { toIsoTime } from '../../../shared/words.ts';
import { defuse } from './defuse.ts';
import { listFacts, type Message } from './message.ts';

/**
 * Returns the JSON that `docs/desk.md` describes. It is only ever extended. Receivers must escape the texts for where
 * they show them.
 */
export function toJsonBody(message: Message, now: number): string {
  const { uid, kind, environment, why, incident, summed, link, note } = message;
  return JSON.stringify({
    id: uid,
    event: incident ? `incident.${kind}` : kind,
    at: toIsoTime(now),
    environment,
    why,
    link,
    ...(note !== undefined && { note }),
    ...(incident && {
      incident: {
        digest: incident.digest,
        title: incident.title,
        kind: incident.kind,
        state: incident.state.toLowerCase(),
        ...incident.place,
        counts: { server: incident.counts.server, browser: incident.counts.browser },
        visitors: incident.visitors,
        firstAt: toIsoTime(incident.firstAt),
        lastAt: toIsoTime(incident.lastAt),
        firstRelease: incident.firstRelease,
        lastRelease: incident.lastRelease,
      },
    }),
    ...(summed && { incidents: summed.map(({ label, digest, link }) => ({ why: label, digest, link })) }),
  });
}

/**
 * Returns the format of Slack and of compatible receivers (Mattermost, Rocket.Chat): blocks, and `text`, which the
 * others show and which Slack uses in its notifications.
 */
export function toSlackBody(message: Message): string {
  const { label, why, incident, summed, link, note } = message;
  const facts = listFacts(message).map(([name, value]) => `*${name}:* ${toMrkdwn(value)}`);
  const title = incident ? toMrkdwn(incident.title) : '';
  const listed = (summed ?? []).map(({ label, digest, link }) => `${label}: ${toSlackLink(link, digest)}`);
  const parts = [
    [`*${label}*${title && `: ${title}`}`, toMrkdwn(why)].join('\n'),
    facts.join('\n'),
    listed.join('\n'),
    [toSlackLink(link, 'Open in the desk'), note].filter(Boolean).join('\n'),
  ].filter((part) => part !== '');
  return JSON.stringify({
    text: parts.join('\n'),
    unfurl_links: false,
    unfurl_media: false,
    link_names: false,
    blocks: parts.map((text) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } })),
  });
}

/** Escapes a text for Slack, and prevents links. https://docs.slack.dev/messaging/formatting-message-text */
function toMrkdwn(text: string): string {
  return escapeSlack(defuse(text)).replace(/[*~`]/g, (mark) => MARKS[mark] ?? mark);
}

/** Characters that look the same but format nothing. */
const MARKS: Readonly<Record<string, string>> = { '*': '∗', '`': 'ˋ', '~': '∼' };

function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Makes a link from a setting and a digest. A path without an origin stays text. */
function toSlackLink(link: string, words: string): string {
  return link.startsWith('/') ? `${words}: ${escapeSlack(link)}` : `<${link}|${words}>`;
}
