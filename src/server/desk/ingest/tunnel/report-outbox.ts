/** What waits for the upstream, see `sentry/outbox.ts`. */
export interface ReportOutbox {
  /**
   * @param category what the upstream's rate limits call it
   * @param headers of the sender, to be sent along
   * @returns false where there is no room, or the upstream wants no more of this category
   */
  add(envelope: Uint8Array, category: string, headers: Readonly<Record<string, string>>): boolean;
  /** The value of `X-Sentry-Rate-Limits` to answer with; undefined where the upstream limits nothing. */
  limits(): string | undefined;
}

/** Names that differ from the item's type. https://develop.sentry.dev/sdk/foundations/transport/rate-limiting/ */
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

/** What rate limits call an item of this type. */
export function toCategory(type: string): string {
  return CATEGORIES.get(type) ?? type;
}
