import { DOCTOR_EVENTS, DOCTOR_STREAM, STREAM_PAUSE, STREAM_STEPS } from '../../engine/monitoring/doctor-protocol.ts';
import { type Finding, toOk } from '../finding.ts';
import type { Answer, Ask } from './ask.ts';
import { STREAM, STREAM_COMPRESSED } from './remedies.ts';

/** When each step could be read (ms since it was asked for). */
export type Steps = readonly number[];

/** What the steps of a stream took; a step that came in the same piece as another came at the same time. */
export function toSteps({ arrivals }: Pick<Answer, 'arrivals'>): Steps {
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
 * Between the first and the last step lies a time that is known. What is late for other reasons is so
 * by less: half of it, and in more than one piece, is a stream.
 */
export function isStreamed(steps: Steps): boolean {
  const span = (steps.at(-1) ?? 0) - (steps[0] ?? 0);
  return steps.length === STREAM_STEPS && span > ((STREAM_STEPS - 1) * STREAM_PAUSE) / 2;
}

interface Kind {
  readonly about: string;
  readonly path: string;
  readonly encoding: 'identity' | 'gzip' | 'br';
}

const KINDS: readonly Kind[] = [
  { about: 'A page, as it is', path: DOCTOR_STREAM, encoding: 'identity' },
  { about: 'A page, with gzip', path: DOCTOR_STREAM, encoding: 'gzip' },
  { about: 'A page, with brotli', path: DOCTOR_STREAM, encoding: 'br' },
  { about: 'Server-sent events', path: DOCTOR_EVENTS, encoding: 'identity' },
];

export interface StreamContext {
  /** It is the first one, which is not compressed. */
  readonly isPlain: boolean;
  /** Whether that one came as it was sent. */
  readonly isPlainStreamed: boolean;
}

export function judgeStream(
  about: string,
  answer: Pick<Answer, 'status' | 'headers' | 'arrivals'>,
  { isPlain, isPlainStreamed }: StreamContext,
): Finding {
  const steps = toSteps(answer);
  const encoding = answer.headers['content-encoding'] ?? 'not compressed';
  if (answer.status !== 200 || steps.length !== STREAM_STEPS) {
    return {
      about,
      mark: 'wrong',
      found: `It did not come whole: ${steps.length} of ${STREAM_STEPS} steps, status ${answer.status}.`,
      advice: 'The log of the proxy says why it was cut or refused.',
    };
  }
  if (isStreamed(steps)) return toOk(about, `Each step came when it was sent (${encoding}).`);
  const found = `All steps came at once after ${Math.round(steps[0] ?? 0)} ms (${encoding}): a visitor waits for what is slowest.`;
  if (isPlainStreamed && answer.headers['content-encoding'] !== undefined) {
    return {
      about,
      mark: 'wrong',
      found,
      advice: 'What compresses on the way holds it back: let the server do it.',
      remedies: STREAM_COMPRESSED,
    };
  }
  if (isPlain || isPlainStreamed) {
    return {
      about,
      mark: 'wrong',
      found,
      advice: 'What stands in between holds replies back: let it pass them on as they come.',
      remedies: STREAM,
    };
  }
  return { about, mark: 'wrong', found, advice: 'The same helps.' };
}

/** How often it is asked before it counts as held back (a count): a busy machine may be late. */
const ATTEMPTS = 3;

async function measure(ask: Ask, { path, encoding }: Kind): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await ask({ path, headers: { 'Accept-Encoding': encoding }, isAuthorized: true });
    if (attempt === ATTEMPTS || isStreamed(toSteps(answer))) return answer;
  }
}

/** @throws NoAnswerError */
export async function checkStreaming(ask: Ask): Promise<Finding[]> {
  const measured = await Promise.all(KINDS.map(async (kind) => ({ kind, answer: await measure(ask, kind) })));
  const plain = measured[0]?.answer;
  const isPlainStreamed = plain !== undefined && isStreamed(toSteps(plain));
  return measured.map(({ kind, answer }) =>
    judgeStream(kind.about, answer, { isPlain: answer === plain, isPlainStreamed }),
  );
}
