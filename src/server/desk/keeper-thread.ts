import { Worker } from 'node:worker_threads';
import { Second } from '../../shared/units.ts';
import type { Beat, BlockedLoop } from './beat.ts';
import type { DeskLog } from './desk-log.ts';
import type { CallAnswer, CallArguments, CallName, FromKeeper, KeeperStart, ToKeeper } from './keeper/calls.ts';
import type { RetentionReport } from './store/retention.ts';
import { StoreAwayError } from './store/sql.ts';

/** The main thread's end of the keeper. */
export interface KeeperThread {
  wake(): void;
  beat(beat: Beat): void;
  /** @throws StoreAwayError where the store cannot be used at the moment */
  ask<Name extends CallName>(name: Name, ...args: CallArguments<Name>): Promise<CallAnswer<Name>>;
  /** The report of the last retention run; undefined before the first one. */
  readonly retained: RetentionReport | undefined;
  /** Ends the thread, whatever it does. */
  end(): Promise<void>;
}

export interface KeeperThreadOptions {
  /** `dist/server/keeper.js`. */
  readonly file: string;
  readonly start: KeeperStart;
  readonly log: DeskLog;
  readonly onBlocked: (report: BlockedLoop) => void;
  readonly onRetained: (report: RetentionReport) => void;
}

const ENDED = 'The keeper of the desk ended.';

interface Question {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Megabytes. The first keeps garbage of a storm small, the second what a broken map could take; past it the thread is started anew. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 256 };

/** First and longest wait before a thread that broke is started anew (ms). */
const RESTART_FIRST = 1 * Second;
const RESTART_LONGEST = 60 * Second;

/** A thread that breaks is started anew, and finds in journal and store where it was. */
export function createKeeperThread({ file, start, log, onBlocked, onRetained }: KeeperThreadOptions): KeeperThread {
  const questions = new Map<number, Question>();
  let lastId = 0;
  let wait = RESTART_FIRST;
  let isEnding = false;
  let retained: RetentionReport | undefined;
  /** Undefined from when it broke until it is started anew. */
  let worker: Worker | undefined = run();

  function run(): Worker {
    const thread = new Worker(file, { workerData: start, name: 'desk keeper', resourceLimits: RESOURCE_LIMITS });
    thread.unref();
    thread.on('message', hear);
    thread.on('error', (error) => log.error({ err: error }, 'The keeper of the desk broke, and is started anew.'));
    thread.on('exit', () => {
      worker = undefined;
      refuseAll();
      if (!isEnding) restart();
    });
    return thread;
  }

  function restart(): void {
    setTimeout(() => {
      if (isEnding) return;
      worker = run();
      say({ say: 'wake' });
    }, wait).unref();
    wait = Math.min(wait * 2, RESTART_LONGEST);
  }

  function refuseAll(): void {
    for (const { reject } of questions.values()) reject(new StoreAwayError(ENDED));
    questions.clear();
  }

  function hear(message: FromKeeper): void {
    if (message.say === 'log') log[message.level](message.fields, message.message);
    else if (message.say === 'blocked') onBlocked(message.report);
    else if (message.say === 'retained') {
      retained = message.report;
      onRetained(message.report);
    } else settle(message);
  }

  function settle(message: Extract<FromKeeper, { say: 'answer' | 'refusal' }>): void {
    const question = questions.get(message.id);
    questions.delete(message.id);
    if (questions.size === 0) worker?.unref();
    if (message.say === 'answer') question?.resolve(message.value);
    else question?.reject(message.away ? new StoreAwayError(message.message) : new Error(message.message));
  }

  function say(message: ToKeeper): void {
    worker?.postMessage(message);
  }

  return {
    wake: () => say({ say: 'wake' }),
    beat: (beat) => say({ say: 'beat', beat }),
    ask<Name extends CallName>(name: Name, ...args: CallArguments<Name>) {
      return new Promise<CallAnswer<Name>>((resolve, reject) => {
        if (!worker) {
          reject(new StoreAwayError(ENDED));
          return;
        }
        lastId += 1;
        // The keeper's handler of this name made the value.
        questions.set(lastId, { resolve: (value) => resolve(value as CallAnswer<Name>), reject });
        // Whoever waits for an answer keeps the process alive.
        worker.ref();
        say({ say: 'call', id: lastId, name, args });
      });
    },
    get retained() {
      return retained;
    },
    async end() {
      isEnding = true;
      await worker?.terminate();
    },
  };
}
