import { Worker } from 'node:worker_threads';
import { Second } from '../../../shared/units.ts';
import type { Count } from '../../engine/monitoring/metrics.ts';
import type { DeskLog } from '../desk-log.ts';
import type { Heartbeat } from '../store/process-table.ts';
import type { RetentionReport } from '../store/retention.ts';
import { QueryFailedError, type QueryFailure, StoreAwayError } from '../store/sql.ts';
import { CHANGES, type DeskCalls, DIRECT, READS } from './desk-calls.ts';
import type { WorkerStart } from './desk-worker.ts';
import type { BlockedLoop } from './watchdog.ts';

type CallName = keyof DeskCalls;

export type ToWorker =
  | { readonly say: 'wake' }
  | { readonly say: 'beat'; readonly beat: Heartbeat }
  | { readonly say: 'call'; readonly id: number; readonly name: CallName; readonly args: readonly unknown[] };

/** Why a call failed: the store is unavailable, only this query failed, or there was another error. */
export type Refusal = 'away' | QueryFailure | 'broken';

export type FromWorker =
  | { readonly say: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly say: 'refusal'; readonly id: number; readonly message: string; readonly why: Refusal }
  /** The worker runs, and has read the last heartbeat. */
  | { readonly say: 'alive' }
  | { readonly say: 'count'; readonly args: Parameters<Count> }
  | {
      readonly say: 'log';
      readonly level: 'info' | 'warn' | 'error';
      readonly fields: object;
      readonly message: string;
    }
  | { readonly say: 'blocked'; readonly report: BlockedLoop }
  | { readonly say: 'retained'; readonly report: RetentionReport };

/**
 * The state of the desk worker. `silent`: it has not read a heartbeat for some time, because it hangs or is
 * busy. `restarting`: it crashed. `ended`: the desk is closed.
 */
export type WorkerState = 'starting' | 'running' | 'silent' | 'restarting' | 'ended';

/** The main thread's end of the desk worker. */
export type WorkerThread = ReturnType<typeof createWorkerThread>;

interface WorkerThreadOptions {
  /** `dist/server/desk-worker.js`. */
  readonly file: string;
  readonly start: WorkerStart;
  /** Starts the worker so much later, or when something needs it (ms). */
  readonly startWithin?: number | undefined;
  readonly log: DeskLog;
  readonly count?: Count | undefined;
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
  /** The most unanswered calls. */
  readonly maxQuestions: number;
  /** A worker that has not read a heartbeat for this long is `silent` (ms). */
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

/** The limits of calls that can take longer (ms): sending test notifications, and storing a whole journal. */
const PATIENCE: Readonly<Partial<Record<CallName, number>>> = {
  sendTestNotifications: 60 * Second,
  flush: 60 * Second,
  close: 60 * Second,
};

/**
 * Heap limits in megabytes. The first limits garbage in a storm. The second limits what a broken source map
 * can use, and the thread crashes past it.
 */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 256 };

const CALLS: readonly CallName[] = [
  ...READS,
  ...CHANGES,
  ...DIRECT,
  ...(['find', 'resolveQuery', 'isEchoAwaited', 'sendTestNotifications', 'settle', 'flush', 'close'] as const),
];

const GONE = 'The desk worker is not running.';
const LATE = 'The desk worker did not answer in time.';
const FULL = 'The desk worker has too many unanswered questions.';

interface Question {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** Starts the desk worker and restarts it after a crash. It continues from the journal and the store. */
export function createWorkerThread(options: WorkerThreadOptions) {
  const { file, start, startWithin, log, count, onBlocked } = options;
  const { restartFirst, restartLongest, steadyAfter, answerWithin, maxQuestions, silentAfter } = {
    ...LIMITS,
    ...options.limits,
  };
  /** Calls without an answer. One that timed out stays as undefined, because the worker is still busy with it. */
  const questions = new Map<number, Question | undefined>();
  let awaited = 0;
  let lastId = 0;
  let wait = restartFirst;
  /** The number of crashes since the last steady run. */
  let crashes = 0;
  let state: WorkerState = 'starting';
  /** Whether the worker was asked to end itself. */
  let isClosing = false;
  let unreadBeatAt: number | undefined;
  let retained: RetentionReport | undefined;
  let starting: NodeJS.Timeout | undefined = startWithin ? setTimeout(startNow, startWithin).unref() : undefined;
  /** Undefined before the start, and from a crash until the restart. */
  let worker: Worker | undefined = starting ? undefined : run();
  /** The last heartbeat before the start. */
  let early: Heartbeat | undefined;

  function startNow(): void {
    if (!starting) return;
    clearTimeout(starting);
    starting = undefined;
    worker = run();
    if (early) sendBeat(early);
  }

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

  /** Logs only the first two crashes in a row, so that repeated crashes do not fill the log. */
  function noteCrash(error: unknown): void {
    crashes += 1;
    if (crashes === 1) log.error({ err: error }, 'The desk worker crashed. Spillway restarts it.');
    if (crashes === 2) {
      log.error(
        { err: error },
        'The desk worker keeps crashing. Spillway restarts it at growing intervals, and logs further crashes only after it has run for a minute. Failures wait in the journal until then.',
      );
    }
  }

  function noteSteady(): void {
    if (crashes > 1) log.info({}, 'The desk worker has run for a minute without a crash.');
    crashes = 0;
    wait = restartFirst;
  }

  function refuseAll(): void {
    unreadBeatAt = undefined;
    for (const id of [...questions.keys()]) take(id)?.reject(refuse('gone', GONE));
  }

  /** Ends the wait for a call. @returns undefined if it has already timed out */
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
    count?.('spillway_desk_calls_refused_total', { reason });
    return new StoreAwayError(message);
  }

  function hear(message: FromWorker): void {
    if (state !== 'ended') state = 'running';
    if (message.say === 'log') log[message.level](message.fields, message.message);
    else if (message.say === 'blocked') onBlocked(message.report);
    else if (message.say === 'count') count?.(...message.args);
    else if (message.say === 'retained') retained = message.report;
    else if (message.say === 'alive') unreadBeatAt = undefined;
    else if (message.say === 'answer') take(message.id)?.resolve(message.value);
    else take(message.id)?.reject(toError(message.why, message.message));
  }

  function sendBeat(beat: Heartbeat): void {
    unreadBeatAt = performance.now();
    say({ say: 'beat', beat });
  }

  function say(message: ToWorker): void {
    worker?.postMessage(message);
  }

  function call(name: CallName, args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      startNow();
      if (!worker) return reject(refuse('gone', GONE));
      if (state === 'silent' && PATIENCE[name] === undefined) return reject(refuse('late', LATE));
      if (questions.size >= maxQuestions) return reject(refuse('full', FULL));
      isClosing ||= name === 'close';
      lastId += 1;
      const id = lastId;
      const timer = setTimeout(() => giveUp(id), PATIENCE[name] ?? answerWithin).unref();
      questions.set(id, { resolve, reject, timer });
      awaited += 1;
      // A call that waits for an answer keeps the process alive.
      worker.ref();
      say({ say: 'call', id, name, args });
    });
  }

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
    /** Sends a heartbeat, unless the worker has not read the last one yet. Call it regularly. */
    beat(beat: Heartbeat) {
      if (starting) early = beat;
      if (!worker) return;
      if (unreadBeatAt === undefined) sendBeat(beat);
      else if (state === 'running' && performance.now() - unreadBeatAt > silentAfter) state = 'silent';
    },
    /** The calls of the worker. */
    calls: Object.fromEntries(
      CALLS.map((name) => [name, (...args: readonly unknown[]) => call(name, args)]),
    ) as unknown as DeskCalls, // `worker/main.ts` calls the method of this name
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
