/** The queue of envelopes for the upstream, see `sentry/outbox.ts`. */
export interface ReportOutbox {
  /**
   * @param category the category in the upstream's rate limits
   * @param headers the sender's headers to forward
   * @returns false if the queue is full, or the upstream's rate limit for the category is reached
   */
  add(envelope: Uint8Array, category: string, headers: Readonly<Record<string, string>>): boolean;
  /** Returns the value of `X-Sentry-Rate-Limits` for the response, or undefined if the upstream limits nothing. */
  limits(): string | undefined;
}

/** Categories that differ from the item's type. https://develop.sentry.dev/sdk/foundations/transport/rate-limiting/ */
const CATEGORIES: ReadonlyMap<string, string> = new Map([
  ['event', 'error'],
  ['sessions', 'session'],
  ['client_report', 'internal'],
  ['user_report', 'default'],
  ['profile_chunk', 'profile'],
  ['replay_event', 'replay'],
  ['replay_recording', 'replay'],
  ['check_in', 'monitor'],
  ['raw_security', 'security'],
  ['log', 'log_item'],
  ['metric', 'trace_metric'],
]);

/** Returns the rate limit category of an item type. */
export function toCategory(type: string): string {
  return CATEGORIES.get(type) ?? type;
}
