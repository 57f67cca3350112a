import { DOCTOR_EVENTS, DOCTOR_STREAM, STREAM_PAUSE, STREAM_STEPS } from '../../engine/monitoring/doctor-protocol.ts';
import { type Finding, ok, toFinding, type Verdict, wrong } from '../finding.ts';
import type { Answer, Ask } from './ask.ts';
import { REMEDIES } from './remedies.ts';

/** How often a stream is requested before it counts as held back, because a busy machine can be late. */
const ATTEMPTS = 3;
/** The uncompressed one is first. Its result explains the others. */
const STREAMS = [
  { about: 'Page, uncompressed', path: DOCTOR_STREAM, encoding: 'identity' },
  { about: 'Page, gzip', path: DOCTOR_STREAM, encoding: 'gzip' },
  { about: 'Page, brotli', path: DOCTOR_STREAM, encoding: 'br' },
  { about: 'Server-sent events', path: DOCTOR_EVENTS, encoding: 'identity' },
] as const;

type Streamed = Pick<Answer, 'status' | 'headers' | 'arrivals'>;

/** Does each step of a stream arrive when the server sends it? @throws NoAnswerError */
export async function checkStreaming(ask: Ask): Promise<Finding[]> {
  const answers = await Promise.all(STREAMS.map((stream) => measure(ask, stream)));
  return STREAMS.flatMap(({ about }, index) => {
    const [answer, plain] = [answers[index], answers[0]];
    return answer && plain ? [toFinding(about, judgeStream(answer, plain))] : [];
  });
}

async function measure(ask: Ask, { path, encoding }: (typeof STREAMS)[number]): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await ask({ path, headers: { 'Accept-Encoding': encoding }, isAuthorized: true });
    if (attempt === ATTEMPTS || isStreamed(toSteps(answer))) return answer;
  }
}

/** @param plain the uncompressed page, which can be `answer` itself */
export function judgeStream(answer: Streamed, plain: Streamed): Verdict {
  const steps = toSteps(answer);
  const encoding = answer.headers['content-encoding'];
  if (answer.status !== 200 || steps.length !== STREAM_STEPS) {
    return wrong(
      `It is incomplete: ${steps.length} of ${STREAM_STEPS} steps, status ${answer.status}.`,
      'The log of the proxy says why.',
    );
  }
  if (isStreamed(steps)) return ok(`Each step arrives when the server sends it (${encoding ?? 'not compressed'}).`);
  const found = `All steps arrive together after ${Math.round(steps[0] ?? 0)} ms (${encoding ?? 'not compressed'}): a visitor waits for the slowest part of a page.`;
  if (answer !== plain && !isStreamed(toSteps(plain))) return wrong(found, 'The same change helps.');
  if (encoding === undefined || answer === plain) {
    return wrong(found, 'A proxy holds responses back. Let it pass them on as they arrive.', REMEDIES.stream);
  }
  return wrong(found, 'A proxy that compresses holds it back. Let the server compress.', REMEDIES.compressOnce);
}

/** Returns when each step arrived (ms since the request). Steps in one piece arrive at the same time. */
export function toSteps({ arrivals }: Pick<Answer, 'arrivals'>): readonly number[] {
  const times: number[] = [];
  let text = '';
  for (const { at, text: piece } of arrivals) {
    text += piece;
    const count = [...text.matchAll(/step \d+[\n<]/g)].length;
    while (times.length < count) times.push(at);
  }
  return times;
}

/**
 * Returns whether the response was streamed. The time between the first and the last step is known. Other delays take
 * less than half of it. So if the steps are spread over more than half of it, the response is a stream.
 */
export function isStreamed(steps: readonly number[]): boolean {
  const span = (steps.at(-1) ?? 0) - (steps[0] ?? 0);
  return steps.length === STREAM_STEPS && span > ((STREAM_STEPS - 1) * STREAM_PAUSE) / 2;
}
