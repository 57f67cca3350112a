import { toIsoTime } from '../../../shared/desk/words.ts';
import { defuse } from './defuse.ts';
import { listFacts, type Message } from './message.ts';

/** Generic JSON, as `docs/desk.md` describes it: additions only. Receivers escape for where they show it. */
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
 * What Slack takes, and those who take the same (Mattermost, Rocket.Chat): blocks, and beside them
 * `text`, which the others show and which stands in Slack's notifications.
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
    [toSlackLink(link, 'Open at the desk'), note].filter(Boolean).join('\n'),
  ].filter((part) => part !== '');
  return JSON.stringify({
    text: parts.join('\n'),
    unfurl_links: false,
    unfurl_media: false,
    link_names: false,
    blocks: parts.map((text) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } })),
  });
}

/** Slack's own escaping, of words that make no link by themselves. https://docs.slack.dev/messaging/formatting-message-text */
function toMrkdwn(text: string): string {
  return escapeSlack(defuse(text)).replace(/[*~`]/g, (mark) => MARKS[mark] ?? mark);
}

/** What looks the same and formats nothing. */
const MARKS: Readonly<Record<string, string>> = { '*': '∗', '`': 'ˋ', '~': '∼' };

function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Of ours: made of a setting and a digest. A path alone is no link. */
function toSlackLink(link: string, words: string): string {
  return link.startsWith('/') ? `${words}: ${escapeSlack(link)}` : `<${link}|${words}>`;
}
