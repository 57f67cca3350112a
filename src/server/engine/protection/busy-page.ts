import type { IncomingMessage, ServerResponse } from 'node:http';
import { ACTION_ACCEPT } from '../../../shared/engine/wire/protocol.ts';
import { PLAIN_PAGE_POLICY, renderPlainPage } from '../errors/last-resort.ts';
import { sendProblem } from '../errors/problem.ts';
import { toPageUrl } from '../pages/page-url.ts';
import { isApiPath } from '../request/api-path.ts';
import { requestInfo } from '../request/request-info.ts';

/** When to come again (s): a moment, and not all in the same one. */
const RETRY_FIRST = 3;
const RETRY_SPREAD = 5;

const HEADING = { title: 'One moment', heading: 'One moment, please' };

const PAGE = Buffer.from(
  renderPlainPage({
    ...HEADING,
    body:
      '<p>More people are here than can be served at once. This page tries again by itself in a few seconds, ' +
      'or you can <a href="">try now</a>.</p>',
  }),
);

const POSTED_PAGE = Buffer.from(
  renderPlainPage({
    ...HEADING,
    body:
      '<p>More people are here than can be served at once, and nothing was done with what you sent. ' +
      'Go back, where it still stands, and send it again in a few seconds.</p>',
  }),
);

const DATA = Buffer.from('{"busy":true}\n');

/**
 * Answers 503 out of memory, before anything has been done or read. A page comes again by itself; what
 * was posted does not, because a browser would come for the page without it.
 */
export function sendBusy(req: IncomingMessage, res: ServerResponse): void {
  const { path } = requestInfo(req);
  const wait = RETRY_FIRST + Math.floor(Math.random() * RETRY_SPREAD);
  res.setHeader('Retry-After', wait);
  if (isApiPath(path)) {
    sendProblem(res, { kind: 'public', status: 503 });
    return;
  }
  // Also a form that is posted in the background: the page around it stays as it is.
  const isData = toPageUrl(path) !== undefined || req.headers.accept?.includes(ACTION_ACCEPT) === true;
  const isRead = req.method === 'GET' || req.method === 'HEAD';
  const body = isData ? DATA : isRead ? PAGE : POSTED_PAGE;
  res.statusCode = 503;
  if (!isData) res.setHeader('Content-Security-Policy', PLAIN_PAGE_POLICY);
  if (!isData && isRead) res.setHeader('Refresh', wait);
  res.setHeader('Content-Type', isData ? 'application/json; charset=utf-8' : 'text/html; charset=utf-8');
  res.setHeader('Content-Length', body.length);
  res.setHeader('Cache-Control', 'no-store');
  res.end(req.method === 'HEAD' ? undefined : body);
}
