import type { IncomingMessage, ServerResponse } from 'node:http';
import { ACTION_ACCEPT } from '../../shared/wire/protocol.ts';
import { PLAIN_PAGE_POLICY, renderPlainPage } from '../errors/last-resort.ts';
import { sendProblem } from '../errors/problem.ts';
import { isApiPath } from '../request/api-path.ts';
import { toPageUrl } from '../request/page-url.ts';
import { requestInfo } from '../request/request-info.ts';
import { sendBody } from '../request/send-body.ts';

/** `Retry-After` (s): random, so that not all visitors return at the same time. */
const RETRY_FIRST = 3;
const RETRY_SPREAD = 5;

const HEADING = { title: 'One moment', heading: 'One moment, please' };

const PAGE = Buffer.from(
  renderPlainPage({
    ...HEADING,
    body:
      '<p>The site has too many visitors at the moment. This page reloads in a few seconds, ' +
      'or <a href="">try again now</a>.</p>',
  }),
);

const POSTED_PAGE = Buffer.from(
  renderPlainPage({
    ...HEADING,
    body:
      '<p>The site has too many visitors at the moment, so your form was not processed. ' +
      'Go back, where your input is still there, and send it again in a few seconds.</p>',
  }),
);

/**
 * Sends a prebuilt 503 response, so that a busy server does no extra work. A page reloads itself. A form does not,
 * because the browser would request the page without its data.
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
  if (isData) {
    sendBody(res, 503, { type: 'application/json; charset=utf-8', body: '{"busy":true}\n' });
    return;
  }
  res.setHeader('Content-Security-Policy', PLAIN_PAGE_POLICY);
  if (isRead) res.setHeader('Refresh', wait);
  sendBody(res, 503, { type: 'text/html; charset=utf-8', body: isRead ? PAGE : POSTED_PAGE });
}
