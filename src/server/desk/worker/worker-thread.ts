import { Worker } from 'node:worker_threads';
import { Second } from '../../../shared/units.ts';
import type { Count } from '../../engine/monitoring/count.ts';
import type { DeskLog } from '../desk-log.ts';
import type { RetentionReport } from '../store/retention/retention.ts';
import { QueryFailedError, StoreAwayError } from '../store/sql.ts';
import type { CallAnswer, CallArguments, CallName, FromWorker, Refusal, ToWorker } from './calls.ts';
import type { WorkerStart } from './desk-worker.ts';
import type { BlockedLoop, Heartbeat } from './processes/heartbeat.ts';

/**
 * How the desk worker is. `silent`: it has not read a heartbeat for some time, because it hangs or does
 * something long. `restarting`: it crashed. `ended`: the desk is closed.
 */
export type WorkerState = 'starting' | 'running' | 'silent' | 'restarting' | 'ended';

/** The main thread's end of the desk worker. */
export type WorkerThread = ReturnType<typeof createWorkerThread>;

interface WorkerThreadOptions {
  /** `dist/server/desk-worker.js`. */
  readonly file: string;
  readonly start: WorkerStart;
  readonly log: DeskLog;
  readonly count?: Count | undefined;
  readonly onBlocked: (report: BlockedLoop) => void;
  readonly onRetained: (report: RetentionReport) => void;
  readonly limits?: Partial<WorkerThreadLimits>;
}

export interface WorkerThreadLimits {
  /** First and longest wait before a worker that crashed is restarted (ms). */
  readonly restartFirst: number;
  readonly restartLongest: number;
  /** A worker that ran for so long runs well (ms): the next wait is the first one again. */
  readonly steadyAfter: number;
  /** How long a question waits for its answer (ms). */
  readonly answerWithin: number;
  /** Questions that the worker has not answered yet, at most (a count). */
  readonly maxQuestions: number;
  /** A heartbeat that was not read for so long shows that the worker does not come round (ms). */
  readonly silentAfter: number;
}

const LIMITS: WorkerThreadLimits = {
  restartFirst: 1 * Second,
  restartLongest: 60 * Second,
  steadyAfter: 60 * Second,
  answerWithin: 10 * Second,
  maxQuestions: 500,
  silentAfter: 10 * Second,
};

/** Questions that may take longer: sending test notifications, and storing a whole journal (ms). */
const PATIENCE: Readonly<Partial<Record<CallName, number>>> = {
  sendTestNotices: 60 * Second,
  flush: 60 * Second,
  close: 60 * Second,
};

/** Megabytes. The first keeps garbage of a storm small, the second what a broken map could take; past it the thread crashes. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 256 };

const GONE = 'The desk worker is not running.';
const LATE = 'The desk worker did not answer in time.';
const FULL = 'The desk worker has too many unanswered questions.';

interface Question {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** Restarts a worker that crashed. The journal and the store say where it continues. */
export function createWorkerThread(options: WorkerThreadOptions) {
  const { file, start, log, count, onBlocked, onRetained } = options;
  const { restartFirst, restartLongest, steadyAfter, answerWithin, maxQuestions, silentAfter } = {
    ...LIMITS,
    ...options.limits,
  };
  /** A question that was given up stays here without its asker until the worker has answered: it still has it. */
  const questions = new Map<number, Question | undefined>();
  let awaited = 0;
  let lastId = 0;
  let wait = restartFirst;
  /** Since it ran well. */
  let crashes = 0;
  let state: WorkerState = 'starting';
  /** It was asked to end by itself. */
  let isClosing = false;
  let unreadBeatAt: number | undefined;
  let retained: RetentionReport | undefined;
  /** Undefined from a crash until the restart. */
  let worker: Worker | undefined = run();

  function run(): Worker {
    const thread = new Worker(file, { workerData: start, name: 'desk worker', resourceLimits: RESOURCE_LIMITS });
    const steady = setTimeout(noteSteady, steadyAfter).unref();
    let crash: unknown;
    thread.unref();
    thread.on('message', hear);
    thread.on('error', (error) => {
      crash = error;
    });
    thread.on('exit', (code) => {
      clearTimeout(steady);
      worker = undefined;
      refuseAll();
      if (state === 'ended' || isClosing) return;
      state = 'restarting';
      noteCrash(crash ?? new Error(`It exited with code ${code}.`));
      restart();
    });
    return thread;
  }

  function restart(): void {
    setTimeout(() => {
      if (state === 'ended') return;
      count?.('spillway_desk_worker_restarts_total', {});
      worker = run();
      say({ say: 'wake' });
    }, wait).unref();
    wait = Math.min(wait * 2, restartLongest);
  }

  /** One that crashes again and again would fill the log. */
  function noteCrash(error: unknown): void {
    crashes += 1;
    if (crashes === 1) log.error({ err: error }, 'The desk worker crashed. Spillway restarts it.');
    if (crashes === 2) {
      log.error(
        { err: error },
        'The desk worker keeps crashing. Spillway restarts it less and less often, and logs its crashes again once it has run for a minute. Failures wait in the journal until then.',
      );
    }
  }

  function noteSteady(): void {
    if (crashes > 1) log.info({}, 'The desk worker has been running for a minute again.');
    crashes = 0;
    wait = restartFirst;
  }

  function refuseAll(): void {
    unreadBeatAt = undefined;
    for (const id of [...questions.keys()]) take(id)?.reject(refuse('gone', GONE));
  }

  /** Ends the wait for a question. @returns undefined if it was given up before */
  function take(id: number): Question | undefined {
    const question = questions.get(id);
    questions.delete(id);
    if (question) stopWaiting(question);
    return question;
  }

  function stopWaiting({ timer }: Question): void {
    clearTimeout(timer);
    awaited -= 1;
    if (awaited === 0) worker?.unref();
  }

  function giveUp(id: number): void {
    const question = questions.get(id);
    if (!question) return;
    questions.set(id, undefined);
    stopWaiting(question);
    question.reject(refuse('late', LATE));
  }

  function refuse(reason: 'gone' | 'late' | 'full', message: string): StoreAwayError {
    count?.('spillway_desk_questions_refused_total', { reason });
    return new StoreAwayError(message);
  }

  function hear(message: FromWorker): void {
    if (state !== 'ended') state = 'running';
    if (message.say === 'log') log[message.level](message.fields, message.message);
    else if (message.say === 'blocked') onBlocked(message.report);
    else if (message.say === 'count') count?.(...message.args);
    else if (message.say === 'retained') noteRetained(message.report);
    else if (message.say === 'alive') unreadBeatAt = undefined;
    else if (message.say === 'answer') take(message.id)?.resolve(message.value);
    else take(message.id)?.reject(toError(message.why, message.message));
  }

  function noteRetained(report: RetentionReport): void {
    retained = report;
    onRetained(report);
  }

  function say(message: ToWorker): void {
    worker?.postMessage(message);
  }

  return {
    get state() {
      return state;
    },
    /** Questions that the worker has not answered yet (a count), late ones included. */
    get pending() {
      return questions.size;
    },
    /** The report of the last retention run; undefined before the first one. */
    get retained() {
      return retained;
    },
    wake: () => say({ say: 'wake' }),
    /** To be called regularly. One that the worker has not read yet is not followed by another. */
    beat(beat: Heartbeat) {
      if (!worker) return;
      if (unreadBeatAt === undefined) {
        unreadBeatAt = performance.now();
        say({ say: 'beat', beat });
      } else if (state === 'running' && performance.now() - unreadBeatAt > silentAfter) state = 'silent';
    },
    /**
     * @throws StoreAwayError if the store cannot be used at the moment, or the worker does not answer
     * @throws QueryFailedError if only this query failed
     */
    ask<Name extends CallName>(name: Name, ...args: CallArguments<Name>) {
      return new Promise<CallAnswer<Name>>((resolve, reject) => {
        if (!worker) return reject(refuse('gone', GONE));
        if (state === 'silent' && PATIENCE[name] === undefined) return reject(refuse('late', LATE));
        if (questions.size >= maxQuestions) return reject(refuse('full', FULL));
        isClosing ||= name === 'close';
        lastId += 1;
        const id = lastId;
        const timer = setTimeout(() => giveUp(id), PATIENCE[name] ?? answerWithin).unref();
        // The desk worker's handler of this name made the value.
        questions.set(id, { resolve: (value) => resolve(value as CallAnswer<Name>), reject, timer });
        awaited += 1;
        // Whoever waits for an answer keeps the process alive.
        worker.ref();
        say({ say: 'call', id, name, args });
      });
    },
    /** Ends the thread immediately. */
    async end() {
      state = 'ended';
      await worker?.terminate();
    },
  };
}

function toError(why: Refusal, message: string): Error {
  if (why === 'away') return new StoreAwayError(message);
  return why === 'broken' ? new Error(message) : new QueryFailedError(why, message);
}
