import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendText } from '../request/refuse.ts';

/** Whether somebody may read what is for operators: yes, no, or not before so many milliseconds have passed. */
export type MayRead = (req: IncomingMessage) => Promise<boolean | { readonly waitMs: number }>;

/** @param what is refused, as a sentence */
export function refuseReader(res: ServerResponse, may: false | { readonly waitMs: number }, what: string): void {
  if (may) {
    res.setHeader('Retry-After', Math.ceil(may.waitMs / 1000));
    sendText(res, 429, 'Too many wrong tokens came from this address. Try again later.');
    return;
  }
  res.setHeader('WWW-Authenticate', 'Bearer');
  sendText(res, 401, `${what} Send a token of VIEWER_TOKEN or OPERATOR_TOKEN as a bearer.`);
}
