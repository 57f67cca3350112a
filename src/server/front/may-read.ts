import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendText } from '../request/send-body.ts';

/** Checks if a caller can read pages for operators: yes, no, or not until `waitMs` have passed. */
export type MayRead = (req: IncomingMessage) => Promise<boolean | { readonly waitMs: number }>;

type Answer = (req: IncomingMessage, res: ServerResponse) => void | Promise<void>;

/** Answers only callers with a valid token. */
export function forReaders(mayRead: MayRead, answer: Answer): (req: IncomingMessage, res: ServerResponse) => void {
  async function check(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const may = await mayRead(req);
    if (res.closed) return;
    if (may === true) await answer(req, res);
    else refuseReader(res, may);
  }
  return function answerReader(req, res) {
    check(req, res).catch(() => sendText(res, 500, 'The server could not answer this request.'));
  };
}

function refuseReader(res: ServerResponse, may: false | { readonly waitMs: number }): void {
  if (may) {
    res.setHeader('Retry-After', Math.ceil(may.waitMs / 1000));
    sendText(res, 429, 'Too many wrong tokens came from this address. Try again later.');
    return;
  }
  res.setHeader('WWW-Authenticate', 'Bearer');
  sendText(res, 401, 'This page is for operators. Send a token from VIEWER_TOKEN or OPERATOR_TOKEN as a bearer token.');
}
