import { parentPort, workerData } from 'node:worker_threads';
import type { DeskLog } from '../desk-log.ts';
import { QueryFailedError, StoreAwayError } from '../store/sql.ts';
import type { FromKeeper, KeeperHandlers, KeeperStart, Refusal, ToKeeper } from './calls.ts';
import { createDigester } from './digester.ts';
import { createKeeper } from './keeper.ts';
import { readMainThreadStack } from './main-thread-stack.ts';

/** The keeper's thread: everything that it does is in `keeper.ts`. */
if (!parentPort) throw new Error('This file is a worker thread of the desk, and does nothing by itself.');
const port = parentPort;
const start = workerData as KeeperStart; // from `createKeeperThread`
const keeper = createKeeper({
  start,
  digester: createDigester({ namespace: start.namespace }),
  log: createMessageLog(),
  readStack: () => readMainThreadStack({ dist: start.dist }),
  onBlocked: (report) => say({ say: 'blocked', report }),
  onRetained: (report) => say({ say: 'retained', report }),
  count: (...args) => say({ say: 'count', args }),
});
say({ say: 'alive' });

port.on('message', (message: ToKeeper) => {
  if (message.say === 'wake') keeper.wake();
  else if (message.say === 'beat') {
    keeper.beat(message.beat);
    say({ say: 'alive' });
  } else void answer(message);
});

async function answer({ id, name, args }: Extract<ToKeeper, { say: 'call' }>): Promise<void> {
  try {
    // The main thread's `ask` has checked the arguments against the name.
    const handler = keeper.handlers[name] as (...args: readonly unknown[]) => unknown;
    say({ say: 'answer', id, value: await handler(...args) });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    say({ say: 'refusal', id, message, why: toRefusal(error) });
  }
  if (isLast(name)) port.close();
}

function toRefusal(error: unknown): Refusal {
  if (error instanceof StoreAwayError) return 'away';
  return error instanceof QueryFailedError ? error.reason : 'broken';
}

function isLast(name: keyof KeeperHandlers): boolean {
  return name === 'close';
}

function say(message: FromKeeper): void {
  port.postMessage(message);
}

/** The log belongs to the main thread. */
function createMessageLog(): DeskLog {
  const tell = (level: 'info' | 'warn' | 'error') => (fields: object, message: string) =>
    say({ say: 'log', level, fields, message });
  return { info: tell('info'), warn: tell('warn'), error: tell('error') };
}
