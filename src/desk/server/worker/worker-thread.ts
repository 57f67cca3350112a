import { Worker } from 'node:worker_threads';
import { Second } from '../../../shared/units.ts';
import type { DeskCount } from '../counters.ts';
import type { DeskLog } from '../desk-log.ts';
import type { RetentionReport } from '../store/retention.ts';
import { CALLS, type DeskCalls } from './desk-calls.ts';
import type { FromWorker, ToWorker, WorkerStart } from './messages.ts';
import { createQuestions, type QuestionLimits } from './questions.ts';
import type { BlockedLoop } from './watchdog.ts';

/** The state of the desk worker. `restarting`: it crashed. `ended`: the desk is closed. */
type WorkerState = 'starting' | 'running' | 'restarting' | 'ended';

interface WorkerThreadOptions {
  /** `dist/server/desk-worker.js`. */
  readonly file: string;
  readonly start: WorkerStart;
  /** Starts the worker so much later, or when something needs it (ms). */
  readonly startWithin?: number | undefined;
  readonly limits?: Partial<WorkerThreadLimits>;
}

/** Where the desk reports. */
export interface DeskReports {
  readonly log: DeskLog;
  readonly count?: DeskCount | undefined;
  /** Called when the event loop runs again after it was blocked for over a second. */
  readonly onBlocked: (report: BlockedLoop) => void;
}

export interface WorkerThreadLimits extends QuestionLimits {
  /** The first and longest wait before a crashed worker is restarted (ms). */
  readonly restartFirst: number;
  readonly restartLongest: number;
  /** How long a worker must run without a crash until the wait is reset (ms). */
  readonly steadyAfter: number;
}

const LIMITS: WorkerThreadLimits = {
  restartFirst: 1 * Second,
  restartLongest: 60 * Second,
  steadyAfter: 60 * Second,
  answerWithin: 10 * Second,
  maxQuestions: 500,
};

/**
 * Heap limits in megabytes. The first limits garbage, also the buffers of a thread that is idle after it has stored the
 * build. The second limits what a broken source map can use, and the thread crashes past it.
 */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 256 };

const CRASHED = 'The desk worker crashed. Spillway restarts it. Failures wait in the journal until then.';

/** Starts the desk worker and restarts it after a crash. It continues from the journal and the store. */
export function createWorkerThread(options: WorkerThreadOptions, { log, count, onBlocked }: DeskReports) {
  const { file, start, startWithin } = options;
  const limits = { ...LIMITS, ...options.limits };
  const { restartFirst, restartLongest, steadyAfter } = limits;
  const questions = createQuestions(limits, count);
  let wait = restartFirst;
  let state: WorkerState = 'starting';
  /** Whether the worker was asked to end itself. */
  let isClosing = false;
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
      questions.rejectAll();
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

  function hear(message: FromWorker): void {
    if (state !== 'ended') state = 'running';
    if (message.say === 'log') log[message.level](message.fields, message.message);
    else if (message.say === 'blocked') onBlocked(message.report);
    else if (message.say === 'count') count?.(...message.args);
    else if (message.say === 'retained') retained = message.report;
    else if (message.say === 'answer' || message.say === 'failure') questions.settle(message);
  }

  function say(message: ToWorker): void {
    worker?.postMessage(message);
  }

  async function call(name: keyof DeskCalls, args: readonly unknown[]): Promise<unknown> {
    startNow();
    if (!worker) throw questions.refuseGone();
    const { id, answer } = questions.add(name);
    isClosing ||= name === 'close';
    say({ say: 'call', id, name, args });
    return answer;
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
