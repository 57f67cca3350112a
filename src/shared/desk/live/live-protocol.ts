/** Where a page of the desk hears that something changed: server-sent events. */
export const LIVE_PATH = '/desk/live';

/** Something changed in the store. It says no more: the page asks for its data anew. */
export const LIVE_CHANGES = 'changes';

/** An event, because pages do not see the comments of a stream. */
export const LIVE_PING = 'ping';
