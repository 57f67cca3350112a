import { Second } from '../../../shared/units.ts';
import type { DeskCount } from '../counters.ts';
import { QueryFailedError, StoreAwayError } from '../store/sql.ts';
import type { DeskCalls } from './desk-calls.ts';
import type { CallFailure, FromWorker } from './messages.ts';

export interface QuestionLimits {
  /** How long a call waits for its answer (ms). */
  readonly answerWithin: number;
  /** The most unanswered calls, so that a worker that hangs does not fill the memory. */
  readonly maxQuestions: number;
}

/** The limits of calls that can take longer (ms): sending test notifications, and storing a whole journal. */
const SLOW_CALL_TIMES: Readonly<Partial<Record<keyof DeskCalls, number>>> = {
  sendTestNotifications: 60 * Second,
  flush: 60 * Second,
  close: 60 * Second,
};

const REFUSALS = {
  gone: 'The desk worker is not running.',
  late: 'The desk worker did not answer in time.',
  full: 'The desk worker has too many unanswered questions.',
};

interface Question {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** The calls that the desk worker has not answered, also those that timed out: it is still busy with them. */
export function createQuestions({ answerWithin, maxQuestions }: QuestionLimits, count: DeskCount | undefined) {
  const questions = new Map<number, Question>();
  let lastId = 0;

  function take(id: number): Question | undefined {
    const question = questions.get(id);
    questions.delete(id);
    clearTimeout(question?.timer);
    return question;
  }

  function refuse(reason: keyof typeof REFUSALS): StoreAwayError {
    count?.('spillway_desk_calls_refused_total', { reason });
    return new StoreAwayError(REFUSALS[reason]);
  }

  return {
    get size() {
      return questions.size;
    },
    /** @returns the id to send, and the promise of the answer. @throws StoreAwayError if too many have no answer */
    add(name: keyof DeskCalls): { id: number; answer: Promise<unknown> } {
      if (questions.size >= maxQuestions) throw refuse('full');
      lastId += 1;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const timer = setTimeout(() => reject(refuse('late')), SLOW_CALL_TIMES[name] ?? answerWithin).unref();
      questions.set(lastId, { resolve, reject, timer });
      return { id: lastId, answer: promise };
    },
    settle(message: Extract<FromWorker, { say: 'answer' | 'failure' }>): void {
      if (message.say === 'answer') take(message.id)?.resolve(message.value);
      else take(message.id)?.reject(toError(message.why, message.message));
    },
    /** Returns the error of a call that nothing can answer, because the worker is not running. */
    refuseGone: () => refuse('gone'),
    /** Rejects all of them, because the worker has ended. */
    rejectAll(): void {
      for (const id of [...questions.keys()]) take(id)?.reject(refuse('gone'));
    },
  };
}

function toError(why: CallFailure, message: string): Error {
  if (why === 'away') return new StoreAwayError(message);
  return why === 'broken' ? new Error(message) : new QueryFailedError(why, message);
}
