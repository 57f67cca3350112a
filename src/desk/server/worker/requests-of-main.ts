import type { InFlightRequest } from '#engine/tracker';
import { Second } from '../../../shared/units.ts';
import { withinTime } from '../within-time.ts';

/** On `globalThis`, because an inspector reaches nothing else. */
const KEY = 'spillway.requestsInFlight';

/** How long a thread that runs out of memory can take to answer (ms). It collects garbage most of the time. */
const ANSWER_TIME = 5 * Second;

type List = () => readonly InFlightRequest[];

/** Called by the main thread: lets the desk worker read its requests in flight. */
export function offerRequests(list: List): void {
  Reflect.set(globalThis, Symbol.for(KEY), list);
}

/**
 * Called by the desk worker: reads the requests in flight of a main thread that is blocked. The last heartbeat does not
 * have the request that blocks it. The inspector interrupts the thread inside of a loop, where no message arrives, and
 * costs nothing as long as nobody asks.
 *
 * @returns undefined if the main thread does not answer
 */
export async function askForRequests(): Promise<ReturnType<List> | undefined> {
  // Here, because few processes are ever blocked, and some builds of Node have no inspector.
  const { Session } = await import('node:inspector/promises').catch(() => ({ Session: undefined }));
  if (!Session) return undefined;
  const session = new Session();
  try {
    session.connectToMainThread();
    const expression = `globalThis[Symbol.for('${KEY}')]()`;
    const asked = session.post('Runtime.evaluate', { expression, returnByValue: true });
    return (await withinTime(ANSWER_TIME, asked)).result.value as ReturnType<List> | undefined;
  } catch {
    return undefined;
  } finally {
    session.disconnect();
  }
}
