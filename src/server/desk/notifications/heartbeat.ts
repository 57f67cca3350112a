import type { DeskLog } from '../desk-log.ts';
import { HEARTBEAT_INTERVAL } from '../limits.ts';
import type { SendRequest } from './send-request.ts';

export interface HeartbeatOptions {
  readonly url: string;
  readonly sendRequest: SendRequest;
  /** Whether the store is available and the main thread is responsive. */
  readonly isHealthy: () => boolean;
  readonly log: DeskLog;
  /** Milliseconds. */
  readonly interval?: number;
}

/**
 * Calls a URL regularly while the server is healthy, so that an outside monitor notices silence. The first call is
 * after one interval, so that a server in a crash loop does not seem healthy.
 *
 * @returns a function that stops it
 */
export function startHeartbeat(options: HeartbeatOptions): () => void {
  const { url, sendRequest, isHealthy, log, interval = HEARTBEAT_INTERVAL } = options;
  let isTold = false;

  async function beat(): Promise<void> {
    if (!isHealthy()) return;
    const failure = await call().catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
    if (failure !== undefined && !isTold) {
      log.warn(
        { outcome: failure },
        'HEARTBEAT_URL could not be called. Retrying every minute without further log lines.',
      );
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
