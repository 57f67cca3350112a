import { parentPort, workerData } from 'node:worker_threads';
import type { DeskLog } from '../desk-log.ts';
import { QueryFailedError, StoreAwayError } from '../store/sql.ts';
import { createDeskWorker } from './desk-worker.ts';
import type { CallFailure, FromWorker, ToWorker, WorkerStart } from './messages.ts';

/** The entry point of the worker thread. `desk-worker.ts` does the work. */
if (!parentPort) throw new Error('This file is a worker thread of the desk, and does nothing by itself.');
const port = parentPort;
const start = workerData as WorkerStart; // from `createWorkerThread`
const worker = createDeskWorker(start, {
  log: createMessageLog(),
  onBlocked: (report) => say({ say: 'blocked', report }),
  onRetained: (report) => say({ say: 'retained', report }),
  count: (...args) => say({ say: 'count', args }),
});
say({ say: 'alive' });

port.on('message', (message: ToWorker) => {
  if (message.say === 'wake') worker.wake();
  else void answer(message);
});

async function answer({ id, name, args }: Extract<ToWorker, { say: 'call' }>): Promise<void> {
  try {
    // The compiler has checked the arguments in the main thread.
    const call = worker.calls[name] as (...args: readonly unknown[]) => Promise<unknown>;
    say({ say: 'answer', id, value: await call(...args) });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    say({ say: 'failure', id, message, why: toCallFailure(error) });
  }
  if (name === 'close') port.close();
}

function toCallFailure(error: unknown): CallFailure {
  if (error instanceof StoreAwayError) return 'away';
  return error instanceof QueryFailedError ? error.reason : 'broken';
}

function say(message: FromWorker): void {
  port.postMessage(message);
}

/** Sends log lines to the main thread, which owns the log. */
function createMessageLog(): DeskLog {
  const tell = (level: keyof DeskLog) => (fields: object, message: string) =>
    say({ say: 'log', level, fields, message });
  return { info: tell('info'), warn: tell('warn'), error: tell('error') };
}
