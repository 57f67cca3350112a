/** Server-sent events that notify the desk's pages of changes. */
export const LIVE_PATH = '/desk/live';

/** Something changed in the store. The page then requests its data again. */
export const LIVE_CHANGES = 'changes';

/** An event instead of a comment, because pages do not see the comments of a stream. */
export const LIVE_PING = 'ping';
