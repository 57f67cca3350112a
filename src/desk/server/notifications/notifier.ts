import { randomBytes } from 'node:crypto';
import type { TestResult } from '../../shared/actions.ts';
import { NOTIFICATION_INTERVAL } from '../desk-limits.ts';
import type { DeskLog } from '../desk-log.ts';
import { StoreError } from '../store/sql.ts';
import type { WithStore } from '../store/store-holder.ts';
import { type MessageFacts, toMessage } from './message.ts';
import type { Target } from './targets.ts';

interface NotifierOptions {
  readonly targets: readonly Target[];
  readonly facts: MessageFacts;
  readonly withStore: WithStore;
  readonly log: DeskLog;
}

export type Notifier = ReturnType<typeof createNotifier>;

/** Sends due notifications. Each target has its own line, so that a slow one does not delay the others. */
export function createNotifier({ targets, facts, withStore, log }: NotifierOptions) {
  const lines = targets.map((target) => createLine(() => sendDue(target), log));
  const timer = setInterval(() => wake(), NOTIFICATION_INTERVAL);
  if (targets.length === 0) clearInterval(timer);
  /** Targets whose last attempt failed. Only the first failure is logged. */
  const failing = new Set<string>();

  function wake(): void {
    for (const line of lines) line.wake();
  }

  /** @returns false if nothing is due */
  async function sendDue(target: Target): Promise<boolean> {
    const claimed = await withStore((store) => store.notifications.claimMessage(target.id));
    if (!claimed) return false;
    const result = await target.send(toMessage(claimed, facts));
    if (!result.ok && !failing.has(target.id)) {
      log.warn({ target: target.name, result: result.words }, 'A notification could not be sent.');
    }
    if (result.ok) failing.delete(target.id);
    else failing.add(target.id);
    await withStore((store) => store.notifications.settleMessage(claimed, result));
    return true;
  }

  async function testOne(target: Target): Promise<TestResult> {
    const id = randomBytes(8).toString('hex');
    const { ok, words } = await target.send(toMessage({ id, items: [] }, facts));
    return { target: target.name, ok, words };
  }

  return {
    /** Called when something was stored, because new notifications can be due. */
    wake,
    /** Sends a test to each target immediately, without retries. */
    sendTest: (): Promise<TestResult[]> => Promise.all(targets.map(testOne)),
    /** Starts nothing more, and waits for messages that are being sent. */
    async stop() {
      clearInterval(timer);
      await Promise.all(lines.map((line) => line.stop()));
    },
  };
}

/** Repeats work until nothing is left, one at a time. @param work returns false if nothing is left */
function createLine(work: () => Promise<boolean>, log: DeskLog) {
  let working: Promise<void> | undefined;
  let isStopped = false;

  async function workAll(): Promise<void> {
    try {
      while (!isStopped && (await work()));
    } catch (error) {
      // It is tried again soon. Errors of the store were already logged.
      if (!(error instanceof StoreError)) log.error({ err: error }, 'Notifications could not be sent.');
    } finally {
      working = undefined;
    }
  }

  return {
    wake() {
      if (!isStopped) working ??= workAll();
    },
    async stop(): Promise<void> {
      isStopped = true;
      await working;
    },
  };
}
