import { escapeHtml } from '../../engine/errors/escape-html.ts';
import { defuse } from './defuse.ts';
import { listFacts, type Message } from './message.ts';

export interface MailText {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Longest subject (characters). */
const MAX_SUBJECT = 140;

/**
 * Formats a message as a subject, and as text and HTML with the same words. Untrusted text becomes neither markup nor a
 * link.
 */
export function toMail(message: Message): MailText {
  const { label, why, incident, summed = [], link, note, environment } = message;
  const head = incident ? `${label}: ${defuse(incident.title)}` : label;
  const facts = listFacts(message).map(([name, value]) => [name, defuse(value)] as const);
  const said = defuse(why);
  const listed = summed.map((one) => ({ ...one, label: defuse(one.label) }));
  const text = [
    head,
    said,
    '',
    ...facts.map(([name, value]) => `${name}: ${value}`),
    ...listed.map((one) => `${one.label}: ${one.link}`),
    '',
    link,
    ...(note === undefined ? [] : ['', note]),
  ];
  const html = [
    `<p><strong>${escapeHtml(head)}</strong><br>${escapeHtml(said)}</p>`,
    `<table cellpadding="2">${facts.map(toHtmlRow).join('')}</table>`,
    ...(listed.length > 0
      ? [
          `<ul>${listed.map((one) => `<li>${escapeHtml(one.label)}: ${toHtmlLink(one.link, one.digest)}</li>`).join('')}</ul>`,
        ]
      : []),
    `<p>${toHtmlLink(link, 'Open in the desk')}</p>`,
    ...(note === undefined ? [] : [`<p>${escapeHtml(note)}</p>`]),
  ];
  return {
    subject: defuse([`[${environment}] ${label}`, incident?.title].filter(Boolean).join(': '), MAX_SUBJECT),
    text: `${text.join('\n')}\n`,
    html: `<!doctype html><html lang="en"><body>${html.join('\n')}</body></html>`,
  };
}

function toHtmlRow([name, value]: readonly [string, string]): string {
  return `<tr><th align="left" valign="top">${name}</th><td>${escapeHtml(value)}</td></tr>`;
}

/** Makes a link. A path without an origin stays text. */
function toHtmlLink(link: string, words: string): string {
  const href = escapeHtml(link);
  return link.startsWith('/') ? `${words}: ${href}` : `<a href="${href}">${words}</a>`;
}
