import { toCount } from '../../../shared/desk/words.ts';
import { KiB } from '../../../shared/units.ts';
import { type Counted, DOCTOR_BODY, DOCTOR_SEEN, MAX_COUNTED_BYTES } from '../../engine/monitoring/doctor-protocol.ts';
import { type Finding, toOk } from '../finding.ts';
import { type Answer, type Ask, NoAnswerError, readJson } from './ask.ts';
import { LET_BODIES_IN, LET_HEADERS_IN } from './remedies.ts';

/** As large as a form may be (bytes); and what small ones need, to tell a limit from what is broken. */
const SIZES = [MAX_COUNTED_BYTES, 64 * KiB, 4 * KiB] as const;

/** One header of so many bytes: cookies of a site with a sign-in and an analysis or two. */
const HEADER_BYTES = 7 * KiB;

/** What became of a body. */
export interface Sent {
  /** Bytes. */
  readonly size: number;
  /** 0 where the connection was cut. */
  readonly status: number;
  /** Bytes that came; undefined where the server did not say. */
  readonly counted: number | undefined;
}

const hasArrived = ({ size, counted }: Sent) => counted === size;

/** @param sent the largest one first */
export function judgeBodies(sent: readonly Sent[]): Finding {
  const about = 'Bodies';
  const [largest] = sent;
  const words = (size: number) => `${toCount(Math.round(size / KiB))} KiB`;
  if (largest && hasArrived(largest))
    return toOk(about, `${words(largest.size)} come through, as much as a form may have.`);
  const arrived = sent.find(hasArrived);
  const refused = sent.findLast((one) => !hasArrived(one));
  const how = refused?.status ? `is answered with ${refused.status}` : 'has its connection cut';
  return {
    about,
    mark: 'wrong',
    found: `A body of ${words(refused?.size ?? 0)} ${how}${arrived ? `, one of ${words(arrived.size)} comes through` : ''}. A form may have ${words(MAX_COUNTED_BYTES)}.`,
    advice: 'Let bodies through: the server has limits of its own.',
    remedies: LET_BODIES_IN,
  };
}

export function judgeHeaders(status: number): Finding {
  const about = 'Headers';
  if (status === 200) return toOk(about, `A header of ${HEADER_BYTES / KiB} KiB comes through.`);
  return {
    about,
    mark: 'warning',
    found: `A header of ${HEADER_BYTES / KiB} KiB ${status ? `is answered with ${status}` : 'has its connection cut'}: visitors with many cookies are shut out. The server takes 16 KiB in all.`,
    advice: 'Let longer ones through.',
    remedies: LET_HEADERS_IN,
  };
}

async function sendBody(ask: Ask, size: number): Promise<Sent> {
  const answer = await orCut(
    ask({
      path: DOCTOR_BODY,
      method: 'POST',
      headers: { 'Content-Type': 'application/octet-stream' },
      body: Buffer.alloc(size, 'spillway '),
      isAuthorized: true,
    }),
  );
  return { size, status: answer?.status ?? 0, counted: answer && readJson<Counted>(answer)?.bytes };
}

async function orCut(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof NoAnswerError) return undefined;
    throw error;
  }
}

export async function checkLimits(ask: Ask): Promise<Finding[]> {
  const [sent, padded] = await Promise.all([
    Promise.all(SIZES.map((size) => sendBody(ask, size))),
    orCut(ask({ path: DOCTOR_SEEN, headers: { 'X-Doctor-Padding': 'x'.repeat(HEADER_BYTES) }, isAuthorized: true })),
  ]);
  return [judgeBodies(sent), judgeHeaders(padded?.status ?? 0)];
}
