import { KiB } from '../../../shared/units.ts';
import { toCount } from '../../../shared/words.ts';
import { type Counted, DOCTOR_BODY, DOCTOR_SEEN, MAX_COUNTED_BYTES } from '../../engine/monitoring/doctor-protocol.ts';
import { type Checks, ok, warning, wrong } from '../finding.ts';
import { type Answer, type Ask, NoAnswerError, type Question, readJson } from './ask.ts';
import { REMEDIES } from './remedies.ts';

/** The largest form, and smaller bodies that distinguish a limit from a failure (bytes). */
const BODY_SIZES = [MAX_COUNTED_BYTES, 64 * KiB, 4 * KiB] as const;
/** The cookies of a site with a sign-in and some analytics (bytes). */
const HEADER_SIZE = 7 * KiB;

/** A body that was sent. */
export interface Sent {
  /** Bytes. */
  readonly size: number;
  /** Undefined if the connection was closed. */
  readonly status: number | undefined;
  /** Bytes that arrived; undefined if the server did not say. */
  readonly counted: number | undefined;
}

export interface LimitFacts {
  /** The largest one first. */
  readonly bodies: readonly Sent[];
  /** The status for a long header; undefined if the connection was closed. */
  readonly headerStatus: number | undefined;
}

export const LIMIT_CHECKS = {
  /** Do forms arrive? */
  'Request bodies'({ bodies }) {
    const refused = bodies.findLast(({ size, counted }) => counted !== size);
    if (!refused) return ok(`${toKibibytes(MAX_COUNTED_BYTES)} arrive, which is the largest allowed form.`);
    const arrived = bodies.find(({ size, counted }) => counted === size);
    return wrong(
      `A body of ${toKibibytes(refused.size)} ${toOutcome(refused.status)}${arrived ? `, and one of ${toKibibytes(arrived.size)} arrives` : ''}. Forms can have up to ${toKibibytes(MAX_COUNTED_BYTES)}.`,
      'Let bodies through. The server has its own limits.',
      REMEDIES.acceptBodies,
    );
  },

  /** Do long headers arrive? */
  'Request headers'({ headerStatus }) {
    if (headerStatus === 200) return ok(`A header of ${toKibibytes(HEADER_SIZE)} arrives.`);
    return warning(
      `A header of ${toKibibytes(HEADER_SIZE)} ${toOutcome(headerStatus)}: visitors with many cookies cannot use the site. The server accepts 16 KiB in all.`,
      'Let longer ones through.',
      REMEDIES.acceptHeaders,
    );
  },
} satisfies Checks<LimitFacts>;

function toKibibytes(bytes: number): string {
  return `${toCount(Math.round(bytes / KiB))} KiB`;
}

function toOutcome(status: number | undefined): string {
  return status === undefined ? 'gets its connection closed' : `gets status ${status}`;
}

export async function measureLimits(ask: Ask): Promise<LimitFacts> {
  const padding = { 'X-Doctor-Padding': 'x'.repeat(HEADER_SIZE) };
  const [bodies, padded] = await Promise.all([
    Promise.all(BODY_SIZES.map((size) => sendBody(ask, size))),
    askOnce(ask, { path: DOCTOR_SEEN, headers: padding, isAuthorized: true }),
  ]);
  return { bodies, headerStatus: padded?.status };
}

async function sendBody(ask: Ask, size: number): Promise<Sent> {
  const answer = await askOnce(ask, {
    path: DOCTOR_BODY,
    method: 'POST',
    headers: { 'Content-Type': 'application/octet-stream' },
    body: Buffer.alloc(size, 'spillway '),
    isAuthorized: true,
  });
  return { size, status: answer?.status, counted: answer && readJson<Counted>(answer)?.bytes };
}

/** @returns undefined if the connection was closed */
async function askOnce(ask: Ask, question: Question): Promise<Answer | undefined> {
  try {
    return await ask(question);
  } catch (error) {
    if (error instanceof NoAnswerError) return undefined;
    throw error;
  }
}
