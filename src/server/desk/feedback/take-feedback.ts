import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import {
  FEEDBACK_FIELDS,
  FEEDBACK_KEY,
  FEEDBACK_TRAP,
  MAX_FEEDBACK_LENGTH,
} from '../../../shared/engine/feedback-protocol.ts';
import { isOutcome } from '../../../shared/engine/outcome.ts';
import { Day, KiB, Minute, Second } from '../../../shared/units.ts';
import { HttpError } from '../../engine/errors/http-error.ts';
import type { BodyReader } from '../../engine/http/body-reader.ts';
import { isOfThisSite } from '../../engine/http/cross-site.ts';
import type { Origins } from '../../engine/http/origins.ts';
import { requestInfo } from '../../engine/http/request-info.ts';
import { toSender } from '../../engine/http/to-sender.ts';
import { readForm } from '../../engine/pages/form-body.ts';
import { parseAddress } from '../address.ts';
import type { Desk } from '../desk.ts';
import { type FeedbackParts, readPostedFeedback } from '../tunnel/feedback.ts';
import { type BucketSize, createTokenBuckets } from '../tunnel/token-buckets.ts';
import { sendFeedbackAnswer } from './send-answer.ts';

export interface TakeFeedbackOptions {
  readonly desk: Pick<Desk, 'ask' | 'journalFeedback'>;
  readonly origins: Origins;
  readonly bodies: BodyReader;
  readonly scrubberOf: (req: IncomingMessage) => FeedbackParts['scrubber'];
  readonly toVisitor: (req: IncomingMessage) => string;
  readonly log: Logger;
  readonly limits?: Partial<FeedbackLimits>;
}

/** How often something may be said, by one sender and by all together. */
export interface FeedbackLimits {
  readonly perAddress: BucketSize;
  readonly together: BucketSize;
}

const LIMITS: FeedbackLimits = {
  perAddress: { burst: 5, perSecond: Second / Minute },
  together: { burst: 60, perSecond: 1 },
};

/** The text in the form's encoding, three characters for each byte of it, and the rest (bytes). */
const MAX_FORM_BYTES = 48 * KiB;

/** Who says something of a failure does so soon (ms). */
const RECENT = Day;

const THANKS = 'Thank you. What you wrote goes to those who mend it.';

/**
 * Takes what visitors say of a failure: a post to whatever page it was shown on, answered without that
 * page, which may fail again. The answer comes before anything is looked up, so that neither its words
 * nor its time tell whether an address exists.
 */
export function takeFeedback(options: TakeFeedbackOptions): RequestHandler {
  const { desk, origins, bodies, log } = options;
  const { perAddress, together } = { ...LIMITS, ...options.limits };
  const senders = createTokenBuckets(perAddress);
  const all = createTokenBuckets(together);

  async function answer(req: Request, res: Response): Promise<void> {
    if (!isOfThisSite(req, origins)) return refuse(403, 'This form comes from another site, so it was not taken.');
    const wait = senders.take(toSender(requestInfo(req).address)) || all.take('');
    if (wait > 0) {
      res.setHeader('Retry-After', String(Math.ceil(wait / Second)));
      return refuse(429, 'Much was said within a short time. Wait a minute, then send it again.');
    }
    const form = await readForm({ request: req, response: res, limit: MAX_FORM_BYTES, bodies });
    const read = (name: string) => toLine(form.get(name));
    const text = read(FEEDBACK_FIELDS.text);
    const email = read(FEEDBACK_FIELDS.email);
    if (text === '') return refuse(422, 'Please write a few words of what you were doing.');
    if (text.length > MAX_FEEDBACK_LENGTH)
      return refuse(422, `Please keep it below ${MAX_FEEDBACK_LENGTH} characters.`);
    if (email !== '' && !isEmail(email)) return refuse(422, 'This is no e-mail address. Correct it, or leave it out.');
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
      const known = await findRecent(`${address.digest}-${address.occurrence}`);
      if (known === undefined) return;
      const id = randomBytes(16).toString('hex');
      const feedback = readPostedFeedback({ id, address: known, url: origin + path, ...said }, parts);
      if (feedback) desk.journalFeedback(feedback);
    } catch (error) {
      log.warn({ err: error }, 'What a visitor said of a failure could not be kept.');
    }
  }

  /** @returns the address under which it is kept by now */
  async function findRecent(text: string): Promise<string | undefined> {
    const found = await desk.ask('find', text);
    if (!found || found.state === 'unknown') return undefined;
    const { incident, occurrence } = found;
    if ((occurrence?.at ?? incident.lastAt) < Date.now() - RECENT) return undefined;
    return occurrence ? `${occurrence.digest}-${occurrence.occurrence}` : incident.digest;
  }

  return async function takeFeedback(req, res, next) {
    const { method, target } = requestInfo(req);
    if (method !== 'POST' || !isAsked(target)) return next();
    try {
      await answer(req, res);
    } catch (error) {
      if (!(isOutcome(error) || error instanceof HttpError) || res.headersSent) throw error;
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

/** As the tunnel has it: shown as text, and never sent to by this server. */
function isEmail(text: string): boolean {
  return text.length <= 254 && /^[^\s@<>"]+@[^\s@<>"]+$/.test(text);
}
