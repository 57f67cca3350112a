import { Day } from '../../../shared/units.ts';
import type { DeskLog } from '../desk-log.ts';
import { NOTICE_INTERVAL, SUMMARY_PATIENCE } from '../limits.ts';
import { toDigest } from '../store/incident-key.ts';
import type { ClaimedNotification, NotificationResult } from '../store/notifications/claim-notification.ts';
import { createUid } from '../store/notifications/notification-table.ts';
import type { StoredFailure } from '../store/records.ts';
import { StoreError } from '../store/sql.ts';
import type { Store } from '../store/store.ts';
import { type MessageFacts, toMessage, toTestMessage } from './message.ts';
import type { Target } from './targets.ts';

/** The result of a test. */
export interface TestSent {
  readonly target: string;
  readonly ok: boolean;
  readonly words: string;
}

/** Sends due notifications. */
export interface Notifier {
  /** Called when something was stored, because new notifications can be due. */
  wake(): void;
  /** Sends a test to each target immediately, without retries. */
  sendTest(): Promise<TestSent[]>;
  /** Starts nothing more, and waits for messages that are being sent. */
  stop(): Promise<void>;
}

export interface NotifierOptions {
  readonly targets: readonly Target[];
  readonly facts: Omit<MessageFacts, 'hasOthers'>;
  readonly holder: { use<T>(work: (store: Store) => Promise<T>): Promise<T> };
  readonly log: DeskLog;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Sends to each target separately, so that a slow target does not delay the others. */
export function createNotifier({ targets, facts, holder, log, now = Date.now }: NotifierOptions): Notifier {
  const lines = targets.map((target) => createLine(target));
  const timer = setInterval(() => wake(), NOTICE_INTERVAL);
  if (targets.length === 0) clearInterval(timer);
  let isStopped = false;

  function wake(): void {
    for (const line of lines) line.wake();
  }

  function createLine(target: Target) {
    let working: Promise<void> | undefined;
    let isWanted = false;
    /** Whether the current series of failures was logged. Only its first failure is. */
    let isTold = false;
    /** When the last daily summary that this process knows of was due. */
    let summaryAt = 0;

    async function work(): Promise<void> {
      while (isWanted && !isStopped) {
        isWanted = false;
        await queueDaily();
        while (!isStopped && (await sendNext())) {
          // The next one.
        }
      }
    }

    async function queueDaily(): Promise<void> {
      if (target.summaryAt === undefined) return;
      const due = now() - ((now() - target.summaryAt) % Day);
      if (due === summaryAt || now() - due > SUMMARY_PATIENCE) return;
      await holder.use((store) => store.queueDaily(target, due));
      summaryAt = due;
    }

    /** @returns false if nothing is due */
    async function sendNext(): Promise<boolean> {
      const claimed = await holder.use((store) => store.claimNotification(target));
      if (!claimed) return false;
      const { length } = await holder.use((store) => store.listEnvironments());
      const message = toMessage(claimed, await readWhole(claimed), { ...facts, hasOthers: length > 1 });
      const outcome = await target.send(message);
      tell(outcome);
      await holder.use((store) => store.settleNotification(claimed.notification, outcome));
      return true;
    }

    function tell(outcome: NotificationResult): void {
      if (!outcome.ok && !isTold) {
        log.warn({ target: target.name, outcome: outcome.words }, 'A notification could not be sent.');
      }
      isTold = !outcome.ok;
    }

    function wake(): void {
      isWanted = true;
      working ??= work()
        .catch((error: unknown) => {
          // It is tried again soon. Errors of the store were already logged.
          if (!(error instanceof StoreError))
            log.error({ err: error }, 'Notifications could not be sent. Trying again soon.');
        })
        .finally(() => {
          working = undefined;
          // wake() was called while the loop was ending.
          if (isWanted && !isStopped) wake();
        });
    }

    return { wake, idle: () => working ?? Promise.resolve() };
  }

  /** Returns an occurrence that is kept in full, because it has the line. */
  async function readWhole({ incident }: ClaimedNotification): Promise<StoredFailure | undefined> {
    if (!incident) return undefined;
    return holder.use(async (store) => {
      const { nearestWhole } = await store.findNeighbours(incident.key, '');
      if (!nearestWhole) return undefined;
      const address = { ...nearestWhole, digest: toDigest(nearestWhole.digest) };
      const found = await store.find(address, incident.environment);
      return found?.occurrence?.whole;
    });
  }

  async function testOne(target: Target): Promise<TestSent> {
    const uid = createUid();
    const { ok, words } = await target.send(toTestMessage(uid, { ...facts, hasOthers: false }));
    await holder.use((store) => store.storeTestNotification(target, { uid, ok, words }));
    return { target: target.name, ok, words };
  }

  return {
    wake,
    sendTest: () => Promise.all(targets.map(testOne)),
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await Promise.all(lines.map((line) => line.idle()));
    },
  };
}
