import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type EngineText, type Language, say } from '../../shared/rendering/language.ts';
import type { PageError } from '../../shared/wire/payload.ts';
import { DIGEST_HEADER } from '../../shared/wire/protocol.ts';
import { describeStatus } from '../request/http-error.ts';
import { requestInfo } from '../request/request-info.ts';
import { HTML_TYPE, sendBody } from '../request/send-body.ts';
import { escapeHtml } from './escape-html.ts';

/** The sentence of every error page, with the host after it. It is fixed, because people search for it. */
const ERROR_SENTENCE = 'Application error: a client-side exception has occurred while loading the host';

const STYLE =
  ':root{color-scheme:light dark;font:1rem/1.6 system-ui,sans-serif}' +
  'body{max-width:40rem;margin:15vh auto;padding:0 1.5rem;overflow-wrap:anywhere}h1{font-size:1.4rem;line-height:1.3}' +
  'code{font:1.1rem ui-monospace,monospace}';

/** The page has an inline style sheet, which the policy allows by its hash, and no script. */
export const PLAIN_PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Ends the reply with the last-resort page. */
export function sendLastResort(req: IncomingMessage, res: ServerResponse, error: PageError): void {
  if (error.digest) res.setHeader(DIGEST_HEADER, error.digest);
  res.setHeader('Content-Security-Policy', PLAIN_PAGE_POLICY);
  const { host, language } = requestInfo(req);
  const body = renderLastResort(error, host, language);
  sendBody(res, error.status, { type: HTML_TYPE, body });
}

/** Renders the last-resort page, for when nothing else works: a string, without React, routes or files. */
export function renderLastResort(error: PageError, host: string, language: Language): string {
  const tell = teller(language);
  if (error.kind !== 'failure') {
    const message = tell(error.message ?? describeStatus(error.status));
    return renderPlainPage(language, message, `<p><a href="/">${tell('Go to the start page')}</a></p>`);
  }
  const address = escapeHtml(error.digest ?? '');
  const shown = error.url ? `<a href="${escapeHtml(error.url)}">${address}</a>` : address;
  const digest = address && `<p>${tell('Digest:')} <code>${shown}</code></p>`;
  return renderPlainPage(
    language,
    tell('Something went wrong on our side'),
    `<p>${ERROR_SENTENCE} ${escapeHtml(host)}</p>${digest}` +
      `<p>${tell('Our server failed. If you tell us the digest, we can find out what went wrong.')}</p>` +
      `<p><a href="">${tell('Try again')}</a> · <a href="/">${tell('Go to the start page')}</a></p>`,
  );
}

/** Returns a function that says a sentence in a language, as HTML. */
export function teller(language: Language): (text: EngineText | (string & {})) => string {
  return (text) => escapeHtml(say(language, text));
}

/** @param heading and `body` are HTML */
export function renderPlainPage({ lang, dir = 'ltr' }: Language, heading: string, body: string): string {
  return [
    `<!DOCTYPE html><html lang="${escapeHtml(lang)}" dir="${dir}"><head><meta charset="utf-8">`,
    '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex">',
    `<title>${heading}</title><style>${STYLE}</style></head><body><main>`,
    `<h1>${heading}</h1>${body}</main></body></html>`,
  ].join('');
}
