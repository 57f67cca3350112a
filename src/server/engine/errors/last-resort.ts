import { createHash } from 'node:crypto';
import type { PageError } from '../../../shared/engine/payload.ts';
import { escapeHtml } from './escape-html.ts';
import { describeStatus } from './http-error.ts';

/** The heading of every error page, with the host after it. The words are fixed: people search for them. */
export const ERROR_SENTENCE = 'Application error: a client-side exception has occurred while loading the host';

const STYLE =
  ':root{color-scheme:light dark;font:1rem/1.6 system-ui,sans-serif}' +
  'body{max-width:40rem;margin:15vh auto;padding:0 1.5rem}h1{font-size:1.4rem;line-height:1.3}' +
  'code{font:1.1rem ui-monospace,monospace}';

/** The page brings its own style sheet, let in by its hash; there is no script. */
export const LAST_RESORT_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The page for when nothing else can be relied on: a string, without React, routes or files. */
export function renderLastResort(error: PageError, host: string): string {
  return createStringPage(error.kind === 'failure' ? failureWords(error, host) : publicWords(error));
}

/** A page of its own words and style sheet, for `LAST_RESORT_POLICY`. What it is given is HTML. */
export function createStringPage(words: StringPageWords): string {
  return [
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex">',
    `<title>${words.title}</title><style>${STYLE}</style></head><body><main>`,
    `<h1>${words.heading}</h1>${words.body}</main></body></html>`,
  ].join('');
}

export interface StringPageWords {
  readonly title: string;
  readonly heading: string;
  readonly body: string;
}

function failureWords(error: PageError, host: string): StringPageWords {
  const digest = error.digest === undefined ? '' : `<p>Digest: <code>${escapeHtml(error.digest)}</code></p>`;
  return {
    title: 'Application error',
    heading: `${ERROR_SENTENCE} ${escapeHtml(host)}`,
    body:
      `${digest}<p><a href="">Try again</a>, or go to the <a href="/">start page</a>. ` +
      'If it stays, tell those who run this site and give them the digest: it leads them to what went wrong.</p>',
  };
}

function publicWords(error: PageError): StringPageWords {
  const message = escapeHtml(error.message ?? describeStatus(error.status));
  return {
    title: `Error ${error.status}`,
    heading: message,
    body: '<p>Go back, or to the <a href="/">start page</a>.</p>',
  };
}
