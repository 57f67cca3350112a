import type { IncomingMessage, ServerResponse } from 'node:http';
import { prefersJson } from '../../engine/errors/error-handler.ts';
import { escapeHtml } from '../../engine/errors/escape-html.ts';
import { PLAIN_PAGE_POLICY, renderPlainPage } from '../../engine/errors/last-resort.ts';
import { API_POLICY } from '../../engine/protection/content-policy.ts';
import { requestInfo } from '../../engine/request/request-info.ts';

/** Sends JSON to scripts, and a plain page to browsers, which does not depend on the page that failed. */
export function sendFeedbackAnswer(req: IncomingMessage, res: ServerResponse, status: number, words: string): void {
  const isForScript = prefersJson(req.headers.accept);
  const text = isForScript ? JSON.stringify({ words }) : renderAnswer(status, words, toPage(req));
  const body = Buffer.from(text, 'utf8');
  res.statusCode = status;
  res.setHeader('Content-Type', `${isForScript ? 'application/json' : 'text/html'}; charset=utf-8`);
  res.setHeader('Content-Security-Policy', isForScript ? API_POLICY : PLAIN_PAGE_POLICY);
  res.setHeader('Content-Length', body.length);
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('Vary', 'Accept');
  res.end(body);
}

function renderAnswer(status: number, words: string, page: string): string {
  const isTaken = status < 400;
  const back = `<a href="${escapeHtml(page)}">Try the page again</a>, or go to the <a href="/">start page</a>.`;
  return renderPlainPage({
    title: isTaken ? 'Feedback sent' : 'Feedback not sent',
    heading: isTaken ? 'Feedback sent' : 'Feedback not sent',
    body: `<p>${escapeHtml(words)}</p><p>${isTaken ? '' : 'To return to your text, go back in your browser. '}${back}</p>`,
  });
}

/** Returns the URL of the form's page from the Referer header, because the form's action lacks the query string. */
function toPage(req: IncomingMessage): string {
  const { origin, path } = requestInfo(req);
  const { referer = '' } = req.headers;
  const from = URL.canParse(referer) ? new URL(referer) : undefined;
  return from?.origin === origin && from.pathname === path ? from.pathname + from.search : path;
}
