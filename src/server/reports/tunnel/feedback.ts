import { KiB } from '../../../shared/units.ts';
import type { GivenFeedback } from '../feedback/feedback.ts';
import { toEventId } from './event-to-failure.ts';
import { type JsonRecord, toLine, toRecord, toText } from './report-json.ts';
import { type ReportScrubber, toScrubbed } from './report-parts.ts';

const MAX_TEXT_LENGTH = 4 * KiB;
const MAX_NAME_LENGTH = 100;
/** RFC 5321, section 4.5.3.1.3. */
const MAX_EMAIL_LENGTH = 254;
const MAX_URL_LENGTH = 2000;

export interface FeedbackParts {
  readonly scrubber: ReportScrubber;
  readonly visitor: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Reads a `feedback` item, which is an event. Undefined if the text is empty. */
export function readFeedback(event: JsonRecord, id: string, parts: FeedbackParts): GivenFeedback | undefined {
  const said = toRecord(toRecord(event.contexts).feedback);
  const { message, contact_email: email, name, url, associated_event_id: about } = said;
  return toFeedback({ id, about, message, email, name, url }, parts);
}

/** Reads a `user_report` item, which older SDKs send. */
export function readUserReport(report: JsonRecord, parts: FeedbackParts): GivenFeedback | undefined {
  const { event_id: about, comments: message, email, name } = report;
  return toFeedback({ id: toEventId(), about, message, email, name, url: undefined }, parts);
}

/** Reads the form on the page of a failure. */
export function readPostedFeedback(
  { text, email, url, id }: Readonly<Record<'id' | 'text' | 'email' | 'url', string>>,
  parts: FeedbackParts,
): GivenFeedback | undefined {
  return toFeedback({ id, about: undefined, message: text, email, name: undefined, url }, parts);
}

/** Returns a `user_report` item for the upstream. */
export function rewriteUserReport({ eventId, name, email, text }: GivenFeedback): JsonRecord {
  return { event_id: eventId, name: name ?? '', email: email ?? '', comments: text };
}

/** Returns the context of a `feedback` event for the upstream. */
export function rewriteFeedbackContext(context: JsonRecord, feedback: GivenFeedback): JsonRecord {
  const { name, email, text, url, eventId } = feedback;
  const { source, replay_id: replayId } = context;
  return {
    contact_email: email,
    name,
    message: text,
    url,
    source: toLine(source, MAX_NAME_LENGTH),
    associated_event_id: eventId,
    replay_id: toLine(replayId, MAX_NAME_LENGTH),
  };
}

type Said = Readonly<Record<'about' | 'message' | 'email' | 'name' | 'url', unknown>> & { readonly id: string };

function toFeedback(said: Said, { scrubber, visitor, at }: FeedbackParts): GivenFeedback | undefined {
  const text = toText(said.message, 2 * MAX_TEXT_LENGTH)?.trim();
  if (!text) return undefined;
  const name = toLine(said.name, 2 * MAX_NAME_LENGTH);
  const url = toLine(said.url, MAX_URL_LENGTH);
  return {
    id: said.id,
    eventId: typeof said.about === 'string' && said.about !== '' ? sameOrNone(said.about) : undefined,
    text: toScrubbed(text, scrubber, MAX_TEXT_LENGTH),
    name: name && toScrubbed(name, scrubber, MAX_NAME_LENGTH),
    email: toEmail(said.email),
    url: url && /^https?:\/\//i.test(url) ? scrubber.url(url) : undefined,
    at,
    visitor,
  };
}

function sameOrNone(given: string): string | undefined {
  const id = toEventId(given);
  return id === given.replaceAll('-', '').toLowerCase() ? id : undefined;
}

/** Makes only a rough check, because the server shows the address and never sends to it. */
function toEmail(value: unknown): string | undefined {
  const email = toLine(value, MAX_EMAIL_LENGTH);
  return email && /^[^\s@<>"]+@[^\s@<>"]+$/.test(email) ? email : undefined;
}
