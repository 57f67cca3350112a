import type { DeskLog } from '../desk-log.ts';
import { HEARTBEAT_INTERVAL } from '../limits.ts';
import type { SendRequest } from './send-request.ts';

export interface HeartbeatOptions {
  readonly url: string;
  readonly sendRequest: SendRequest;
  /** The store can be reached, and the main thread comes round. */
  readonly isHealthy: () => boolean;
  readonly log: DeskLog;
  /** Milliseconds. */
  readonly interval?: number;
}

/**
 * Calls an address again and again while all is well, so that somebody outside notices silence. The
 * first call comes after one interval: a server that falls over and over again must not sound alive.
 *
 * @returns what ends it
 */
export function startHeartbeat(options: HeartbeatOptions): () => void {
  const { url, sendRequest, isHealthy, log, interval = HEARTBEAT_INTERVAL } = options;
  let isTold = false;

  async function beat(): Promise<void> {
    if (!isHealthy()) return;
    const failure = await call().catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
    if (failure !== undefined && !isTold) {
      log.warn({ outcome: failure }, 'HEARTBEAT_URL could not be called. It is tried again every minute, in silence.');
    }
    isTold = failure !== undefined;
  }

  /** @returns what was wrong */
  async function call(): Promise<string | undefined> {
    const { status } = await sendRequest(new URL(url), { method: 'GET' });
    return status >= 200 && status < 300 ? undefined : `It answered ${status}.`;
  }

  const timer = setInterval(() => void beat(), interval);
  return () => clearInterval(timer);
}
