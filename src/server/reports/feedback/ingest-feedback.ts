import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import {
  FEEDBACK_FIELDS,
  FEEDBACK_KEY,
  FEEDBACK_TRAP,
  MAX_FEEDBACK_LENGTH,
} from '../../../shared/engine/reporting/feedback-protocol.ts';
import { isControlFlow } from '../../../shared/engine/routing/control-flow.ts';
import { KiB, Second } from '../../../shared/units.ts';
import { HttpError } from '../../engine/errors/http-error.ts';
import { parseAddress, toAddressText } from '../../engine/errors/parse-address.ts';
import { readForm } from '../../engine/pages/actions/form-body.ts';
import { isOfThisSite } from '../../engine/protection/cross-site.ts';
import type { Origins } from '../../engine/protection/origins.ts';
import { requestInfo } from '../../engine/request/request-info.ts';
import { toSender } from '../../engine/request/to-sender.ts';
import { type FeedbackParts, readPostedFeedback } from '../tunnel/feedback.ts';
import type { KeepFeedback } from './feedback.ts';
import { sendFeedbackAnswer } from './send-answer.ts';

export interface TakeFeedbackOptions {
  readonly feedback: KeepFeedback;
  readonly origins: Origins;
  readonly scrubberOf: (req: IncomingMessage) => FeedbackParts['scrubber'];
  readonly toVisitor: (req: IncomingMessage) => string;
  readonly log: Logger;
}

/** The size limit of the form (bytes). URL encoding takes three characters for each byte of the text. */
const MAX_FORM_BYTES = 48 * KiB;

const THANKS = 'Thank you. Your feedback was sent to the team.';

/**
 * Handles feedback about a failure, which is posted to the page that showed it. The response does not render
 * that page, which could fail again. It is sent before the address is looked up, so that neither its text nor
 * its timing reveals whether the address exists.
 */
export function ingestFeedback(options: TakeFeedbackOptions): RequestHandler {
  const { feedback, origins, log } = options;

  async function answer(req: Request, res: Response): Promise<void> {
    if (!isOfThisSite(req, origins)) return refuse(403, 'This form was sent from another site, so it was rejected.');
    const wait = feedback.takeTurn(toSender(requestInfo(req).address));
    if (wait > 0) {
      res.setHeader('Retry-After', String(Math.ceil(wait / Second)));
      return refuse(429, 'Too many messages in a short time. Wait a minute, then try again.');
    }
    const form = await readForm({ request: req, response: res, limit: MAX_FORM_BYTES });
    const read = (name: string) => toLine(form.get(name));
    const text = read(FEEDBACK_FIELDS.text);
    const email = read(FEEDBACK_FIELDS.email);
    if (text === '') return refuse(422, 'Please describe briefly what you were doing.');
    if (text.length > MAX_FEEDBACK_LENGTH)
      return refuse(422, `Please keep it below ${MAX_FEEDBACK_LENGTH} characters.`);
    if (email !== '' && !isEmail(email))
      return refuse(422, 'This is not a valid email address. Correct it or leave it out.');
    sendFeedbackAnswer(req, res, 200, THANKS);
    if (read(FEEDBACK_TRAP) === '') await keep(req, read(FEEDBACK_FIELDS.address), { text, email });

    function refuse(status: number, words: string): void {
      sendFeedbackAnswer(req, res, status, words);
    }
  }

  async function keep(req: Request, text: string, said: { readonly text: string; readonly email: string }) {
    const address = parseAddress(text);
    if (address?.occurrence === undefined) return;
    const { origin, path } = requestInfo(req);
    const parts = { scrubber: options.scrubberOf(req), visitor: options.toVisitor(req), at: Date.now() };
    try {
      const id = randomBytes(16).toString('hex');
      const given = readPostedFeedback({ id, url: origin + path, ...said }, parts);
      if (given) await feedback.keep(given, { address: toAddressText(address) }, toSender(requestInfo(req).address));
    } catch (error) {
      log.warn({ err: error }, 'Feedback from a visitor could not be stored.');
    }
  }

  return async function ingestFeedback(req, res, next) {
    const { method, target } = requestInfo(req);
    if (method !== 'POST' || !isAsked(target)) return next();
    try {
      await answer(req, res);
    } catch (error) {
      if (!(isControlFlow(error) || error instanceof HttpError) || res.headersSent) throw error;
      sendFeedbackAnswer(req, res, error.status, error.message);
    }
  };
}

function isAsked(target: string): boolean {
  const end = target.indexOf('?');
  return (
    end >= 0 &&
    target
      .slice(end + 1)
      .split('&')
      .some((pair) => pair.split('=', 1)[0] === FEEDBACK_KEY)
  );
}

function toLine(value: FormDataEntryValue | null): string {
  return typeof value === 'string' ? value.trim() : '';
}

/** The same check as in the tunnel. The server only shows the address and never sends to it. */
function isEmail(text: string): boolean {
  return text.length <= 254 && /^[^\s@<>"]+@[^\s@<>"]+$/.test(text);
}
