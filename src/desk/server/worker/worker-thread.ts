import { Worker } from 'node:worker_threads';
import type { InFlightRequest } from '#engine/tracker';
import { Second } from '../../../shared/units.ts';
import type { DeskCount } from '../counters.ts';
import type { DeskLog } from '../desk-log.ts';
import type { RetentionReport } from '../store/retention.ts';
import { QueryFailedError, StoreAwayError } from '../store/sql.ts';
import { createAnswers } from './answers.ts';
import type { DeskCalls } from './desk-calls.ts';
import type { FromWorker, Refusal, ToWorker, WorkerStart } from './messages.ts';
import type { BlockedLoop } from './watchdog.ts';

/** The state of the desk worker. `restarting`: it crashed. `ended`: the desk is closed. */
type WorkerState = 'starting' | 'running' | 'restarting' | 'ended';

interface WorkerThreadOptions {
  /** `dist/server/desk-worker.js`. */
  readonly file: string;
  readonly start: WorkerStart;
  /** Starts the worker so much later, or when something needs it (ms). */
  readonly startWithin?: number | undefined;
  readonly log: DeskLog;
  readonly count?: DeskCount | undefined;
  readonly onBlocked: (report: BlockedLoop) => void;
  readonly limits?: Partial<WorkerThreadLimits>;
}

export interface WorkerThreadLimits {
  /** The first and longest wait before a crashed worker is restarted (ms). */
  readonly restartFirst: number;
  readonly restartLongest: number;
  /** How long a worker must run without a crash until the wait is reset (ms). */
  readonly steadyAfter: number;
  /** How long a call waits for its answer (ms). */
  readonly answerWithin: number;
  /** The most unanswered calls, so that a worker that hangs does not fill the memory. */
  readonly maxQuestions: number;
}

const LIMITS: WorkerThreadLimits = {
  restartFirst: 1 * Second,
  restartLongest: 60 * Second,
  steadyAfter: 60 * Second,
  answerWithin: 10 * Second,
  maxQuestions: 500,
};

/** The limits of calls that can take longer (ms): sending test notifications, and storing a whole journal. */
const SLOW_CALL_TIMES: Readonly<Partial<Record<keyof DeskCalls, number>>> = {
  sendTestNotifications: 60 * Second,
  flush: 60 * Second,
  close: 60 * Second,
};

/**
 * Heap limits in megabytes. The first limits garbage in a storm. The second limits what a broken source map
 * can use, and the thread crashes past it.
 */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 256 };

/** The names of the calls, from the object that answers them in the worker. Here it answers nothing, so it needs no parts. */
const CALLS = Object.keys(createAnswers({} as Parameters<typeof createAnswers>[0])) as (keyof DeskCalls)[];

const GONE = 'The desk worker is not running.';
const LATE = 'The desk worker did not answer in time.';
const FULL = 'The desk worker has too many unanswered questions.';
const CRASHED = 'The desk worker crashed. Spillway restarts it. Failures wait in the journal until then.';

interface Question {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** Starts the desk worker and restarts it after a crash. It continues from the journal and the store. */
export function createWorkerThread(options: WorkerThreadOptions) {
  const { file, start, startWithin, log, count, onBlocked } = options;
  const { restartFirst, restartLongest, steadyAfter, answerWithin, maxQuestions } = { ...LIMITS, ...options.limits };
  /** Calls without an answer, also those that timed out: the worker is still busy with them. */
  const questions = new Map<number, Question>();
  let lastId = 0;
  let wait = restartFirst;
  let state: WorkerState = 'starting';
  /** Whether the worker was asked to end itself. */
  let isClosing = false;
  let isBeating = false;
  let retained: RetentionReport | undefined;
  /** Undefined before the start, and from a crash until the restart. */
  let worker: Worker | undefined;
  let starting: NodeJS.Timeout | undefined = setTimeout(startNow, startWithin ?? 0);

  function startNow(): void {
    if (!starting) return;
    clearTimeout(starting);
    starting = undefined;
    worker = run();
  }

  function run(): Worker {
    const startedAt = performance.now();
    const thread = new Worker(file, { workerData: start, name: 'desk worker', resourceLimits: RESOURCE_LIMITS });
    let crash: unknown;
    thread.on('message', hear);
    thread.on('error', (error) => {
      crash = error;
    });
    thread.on('exit', (code) => {
      worker = undefined;
      for (const id of [...questions.keys()]) take(id)?.reject(refuse('gone', GONE));
      if (state === 'ended' || isClosing) return;
      state = 'restarting';
      if (performance.now() - startedAt >= steadyAfter) wait = restartFirst;
      log.error({ err: crash ?? new Error(`It exited with code ${code}.`), restartIn: wait }, CRASHED);
      setTimeout(restart, wait).unref();
      wait = Math.min(wait * 2, restartLongest);
    });
    return thread;
  }

  function restart(): void {
    if (state === 'ended') return;
    count?.('spillway_desk_worker_restarts_total', {});
    worker = run();
    say({ say: 'wake' });
  }

  function take(id: number): Question | undefined {
    const question = questions.get(id);
    questions.delete(id);
    clearTimeout(question?.timer);
    return question;
  }

  function refuse(reason: 'gone' | 'late' | 'full', message: string): StoreAwayError {
    count?.('spillway_desk_calls_refused_total', { reason });
    return new StoreAwayError(message);
  }

  function hear(message: FromWorker): void {
    if (state !== 'ended') state = 'running';
    if (message.say === 'log') log[message.level](message.fields, message.message);
    else if (message.say === 'blocked') onBlocked(message.report);
    else if (message.say === 'count') count?.(...message.args);
    else if (message.say === 'retained') retained = message.report;
    else if (message.say === 'answer') take(message.id)?.resolve(message.value);
    else if (message.say === 'refusal') take(message.id)?.reject(toError(message.why, message.message));
  }

  function say(message: ToWorker): void {
    worker?.postMessage(message);
  }

  async function call(name: keyof DeskCalls, args: readonly unknown[]): Promise<unknown> {
    startNow();
    if (!worker) throw refuse('gone', GONE);
    if (questions.size >= maxQuestions) throw refuse('full', FULL);
    isClosing ||= name === 'close';
    lastId += 1;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const timer = setTimeout(() => reject(refuse('late', LATE)), SLOW_CALL_TIMES[name] ?? answerWithin).unref();
    questions.set(lastId, { resolve, reject, timer });
    say({ say: 'call', id: lastId, name, args });
    return promise;
  }

  const calls = Object.fromEntries(
    CALLS.map((name) => [name, (...args: readonly unknown[]) => call(name, args)]),
  ) as unknown as DeskCalls; // `main.ts` calls the worker's method of the same name

  return {
    get state() {
      return state;
    },
    /** The number of unanswered calls, including timed-out ones. */
    get pending() {
      return questions.size;
    },
    /** The report of the last retention run. Undefined before the first one. */
    get retained() {
      return retained;
    },
    wake() {
      startNow();
      say({ say: 'wake' });
    },
    /** Sends the requests in flight, unless the last ones have no answer yet. Call it regularly. */
    beat(inFlight: readonly InFlightRequest[]) {
      if (!worker || isBeating) return;
      isBeating = true;
      const isOver = () => {
        isBeating = false;
      };
      calls.beat(inFlight).then(isOver, isOver);
    },
    calls,
    /** Ends the thread immediately. */
    async end() {
      state = 'ended';
      clearTimeout(starting);
      starting = undefined;
      await worker?.terminate();
    },
  };
}

function toError(why: Refusal, message: string): Error {
  if (why === 'away') return new StoreAwayError(message);
  return why === 'broken' ? new Error(message) : new QueryFailedError(why, message);
}
