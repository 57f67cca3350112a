import { createHash } from 'node:crypto';
import type { PageError } from '../../shared/wire/payload.ts';
import { describeStatus } from '../request/http-error.ts';
import { escapeHtml } from './escape-html.ts';

/** The sentence of every error page, with the host after it. It is fixed, because people search for it. */
const ERROR_SENTENCE = 'Application error: a client-side exception has occurred while loading the host';

const STYLE =
  ':root{color-scheme:light dark;font:1rem/1.6 system-ui,sans-serif}' +
  'body{max-width:40rem;margin:15vh auto;padding:0 1.5rem}h1{font-size:1.4rem;line-height:1.3}' +
  'code{font:1.1rem ui-monospace,monospace}';

/** The page has an inline style sheet, which the policy allows by its hash, and no script. */
export const PLAIN_PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Renders the last-resort page, for when nothing else works: a string, without React, routes or files. */
export function renderLastResort(error: PageError, host: string): string {
  return renderPlainPage(error.kind === 'failure' ? failureWords(error, host) : publicWords(error));
}

/** @param words HTML */
export function renderPlainPage(words: PlainWords): string {
  return [
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex">',
    `<title>${words.title}</title><style>${STYLE}</style></head><body><main>`,
    `<h1>${words.heading}</h1>${words.body}</main></body></html>`,
  ].join('');
}

/** HTML. Untrusted text is escaped. */
interface PlainWords {
  readonly title: string;
  readonly heading: string;
  readonly body: string;
}

function failureWords(error: PageError, host: string): PlainWords {
  const address = escapeHtml(error.digest ?? '');
  const sentence = `${ERROR_SENTENCE} ${escapeHtml(host)}`;
  const shown = error.url ? `<a href="${escapeHtml(error.url)}">${address}</a>` : address;
  const digest = address && `<p>Digest: <code>${shown}</code></p>`;
  const heading = 'Something went wrong on our side';
  return {
    title: heading,
    heading,
    body:
      `<p>${sentence}</p>${digest}<p>Our server failed. <a href="">Try again</a> in a minute, ` +
      'or go to the <a href="/">start page</a>. If you tell us the digest, we can find out what went wrong.</p>',
  };
}

function publicWords(error: PageError): PlainWords {
  const message = escapeHtml(error.message ?? describeStatus(error.status));
  return {
    title: `Error ${error.status}`,
    heading: message,
    body: '<p>Go back, or to the <a href="/">start page</a>.</p>',
  };
}
