import { Day, Hour, KiB, MiB, Millisecond, Minute, Second } from '../../shared/units.ts';

// The journal

/**
 * Full events that one digest can write in a second, for servers and for browsers (a count). The others are sampled
 * out.
 */
export const WHOLE_PER_SECOND = 20;
/** A segment is closed at this size (bytes), so that it can be deleted once it is stored. */
export const SEGMENT_BYTES = 8 * MiB;
/**
 * The most journaled data that waits for the store, including segments of dead processes (bytes). Beyond it, failures
 * are only counted.
 */
export const MAX_JOURNAL_BYTES = 256 * MiB;
/** Different digests, hours and sides that can be counted while the journal is full (a count). */
export const MAX_COUNT_SLOTS = 2048;

// The desk worker

/** How long lines gather before they are stored (ms). It is below the 250 ms within which other replicas see them. */
export const GATHER_TIME = 100 * Millisecond;
/** Journal data that one transaction stores (bytes): some hundred to some thousand sampled-out records. */
export const BATCH_BYTES = { least: 64 * KiB, most: 2 * MiB };
/**
 * How long a batch should take, and at most twice as long (ms). Large batches cost less. With SQLite (`alone`), the
 * desk worker answers nothing else in this time.
 */
export const BATCH_TIME = { alone: 40 * Millisecond, shared: 250 * Millisecond };
/** Tries of a batch that the store refuses, before its entries are stored one by one (a count): some 15 s. */
export const MAX_BATCH_TRIES = 6;
/** How long failures are stored without search text and notifications after the store has refused those (ms). */
export const EXTRAS_PAUSE = 30 * Second;
/** Size of the file of entries that the store keeps refusing (bytes). Beyond it they are only counted. */
export const MAX_DEAD_LETTER_BYTES = 16 * MiB;
/** How long a call waits for the journal to be stored (ms). Calls should be answered within 300 ms. */
export const SETTLE_PATIENCE = 150 * Millisecond;
/** How long a change waits for the journal to be stored (ms). */
export const CHANGE_PATIENCE = 2 * Second;
/** How often the main thread reports the requests in flight (ms). */
export const BEAT_INTERVAL = 1 * Second;
/** First and longest wait before the store is tried again (ms). */
export const RETRY_FIRST = 250 * Millisecond;
export const RETRY_LONGEST = 10 * Second;
/** A replica counts as dead after this long without a heartbeat, if the store could be reached in that time (ms). */
export const DEAD_AFTER = 60 * Second;
/** How long an unknown address is looked up again, because it can still arrive (ms). */
export const LOOKUP_PATIENCE = 2 * Second;
/** How long a drain waits for its journal to be stored (ms). */
export const CLOSE_PATIENCE = 3 * Second;

// The watchdog

/** How often the main thread sends a pulse, and how often the pulse is checked (ms). */
export const PULSE_INTERVAL = 200 * Millisecond;
/** The main thread counts as blocked after this long without a pulse (ms). */
export const BLOCKED_AFTER = 1 * Second;

// Memory

/** Points in the memory history (a count). When it is full, pairs of points are merged. About 1,000 bytes of text. */
export const MEMORY_POINTS = 48;

// The store

/** Occurrences of an incident that are kept in an hour (a count). Beyond it, the hour is marked as sampled. */
export const MAX_OCCURRENCES_PER_HOUR = 1000;
/**
 * Full occurrences that are kept of an incident (counts): the first, some of each hour, the newest, and some with
 * feedback. Visitors quote addresses from the last hours, so most of those must be kept in full. When the store runs
 * out of room, the oldest of the hourly ones are deleted first.
 */
export const FIRST_WHOLES = 10;
export const WHOLES_PER_HOUR = 100;
export const NEWEST_WHOLES = 20;
export const MAX_SAID_WHOLES = 20;
/** Hours older than this can be deleted to make room (ms). Charts show the last 14 days. */
export const HOUR_AGE = 30 * Day;
/** If a clock differs from the store's clock by more than this, nothing is deleted (ms). */
export const MAX_CLOCK_SKEW = 5 * Minute;
/** How long the maps and assets of a build are kept after it last ran (ms), and their size in total (bytes). */
export const BUILD_AGE = 30 * Day;
export const MAX_BUILD_BYTES = 200 * MiB;
/** How long the list of ended processes is kept (ms). */
export const RUN_AGE = 30 * Day;
/**
 * How often old data is deleted (ms), how often the store's size is checked (ms), and the growth after which old data
 * is deleted early (a share).
 */
export const RETENTION_INTERVAL = 1 * Hour;
export const SIZE_CHECK_INTERVAL = 5 * Minute;
export const SIZE_GROWTH = 0.05;
/** Rows that one transaction deletes (a count). A longer one would delay new entries. */
export const DELETE_BATCH = 1000;

// Source maps

/**
 * Decoded maps in memory (bytes of their text; decoded they take about ten times as much), and how long they stay after
 * use (ms).
 */
export const MAX_MAP_BYTES = 8 * MiB;
export const MAP_IDLE_TIME = 1 * Minute;
/** Source lines shown before and after a place (a count), and the width that they are cut to (characters). */
export const CONTEXT_LINES = 5;
export const MAX_CONTEXT_WIDTH = 250;

// Assets of earlier builds

/**
 * Old assets in the main thread's memory (bytes), and how long a missing one is remembered (ms), because another
 * replica can still publish it.
 */
export const MAX_OLD_ASSET_BYTES = 16 * MiB;
export const UNKNOWN_ASSET_TIME = 10 * Second;
/** The largest file of a build that is published (bytes). */
export const MAX_BUILD_FILE_BYTES = 32 * MiB;

/** Length of a slot in a file of counts (bytes). It fits the longest title. */
export const COUNT_SLOT_BYTES = KiB;

// Sign-in

/** How long a session lasts (ms). */
export const SESSION_TIME = 12 * Hour;
/** How long reads reuse the store's answer about a session (ms), and for how many sessions (a count). */
export const SESSION_CACHE_TIME = 2 * Second;
export const MAX_CACHED_SESSIONS = 1000;
/** The size of a form of the desk (bytes). Notes are the largest. */
export const MAX_DESK_FORM_BYTES = 64 * KiB;

// Notifications

/**
 * A storm is an hour of the clock with at least this many failures of an incident (a count), and this many times the
 * busiest of the 24 hours before (a factor). It is notified once a day.
 */
export const STORM = { least: 100, times: 10 };
/** Different visitors within a day who must have met a failure that only browsers report (a count, SPEC section 6). */
export const BELIEVED_VISITORS = 2;
/** Messages to one target in an hour (a count, SPEC section 7). Any more are sent as one summary. */
export const MAX_NOTICES_AN_HOUR = 20;
/** How long a summary waits for more messages (ms). At most one is sent in an hour. */
export const SUMMARY_GATHER_TIME = 30 * Second;
/** How late a daily summary can be queued, because no server was running (ms). Then it is left out. */
export const SUMMARY_PATIENCE = 1 * Hour;
/** Tries of one message (a count). With the waits below, they take over two and a half hours. */
export const MAX_NOTICE_TRIES = 12;
/** First and longest wait before a failed target is tried again (ms). `Retry-After` can ask for more. */
export const NOTICE_RETRY_FIRST = 5 * Second;
export const NOTICE_RETRY_LONGEST = 1 * Hour;
/** How long one replica has to send a message that it claimed (ms). Then another replica, or the next start, tries. */
export const NOTICE_CLAIM_TIME = 1 * Minute;
/** A notification that could not be sent for this long is dropped (ms). */
export const NOTICE_PATIENCE = 1 * Day;
/** How long the record of sent notifications is kept (ms). */
export const NOTICE_AGE = 30 * Day;
/** How often due notifications are looked for (ms). */
export const NOTICE_INTERVAL = 5 * Second;
/** How much of a target's response is read before the connection is closed (bytes). Its text is not used. */
export const MAX_TARGET_REPLY_BYTES = 16 * KiB;
/** How often `HEARTBEAT_URL` is called (ms, SPEC section 8). */
export const HEARTBEAT_INTERVAL = 1 * Minute;

// Untrusted input

/** How old a failure can be when a visitor sends feedback about it (ms). */
export const FEEDBACK_AGE = 1 * Day;
/**
 * Limits of feedback, for each sender, for all senders and for each failure: messages (counts), and their text (bytes).
 */
export const FEEDBACK_LIMITS = {
  turnsOfSender: { burst: 5, perSecond: Second / Minute },
  turns: { burst: 60, perSecond: 1 },
  ofFailure: { burst: 20, perSecond: (20 * Second) / Hour },
  bytesOfSender: { burst: 32 * KiB, perSecond: (64 * KiB * Second) / Hour },
  bytes: { burst: 1 * MiB, perSecond: (4 * MiB * Second) / Hour },
};
// Live pages

/** How often the store is checked for changes while a page is open (ms). It is one short statement. */
export const LIVE_POLL_INTERVAL = 1 * Second;
/** How often a stream sends a ping and checks its session (ms). Proxies close a connection after 60 s without data. */
export const LIVE_PING_INTERVAL = 20 * Second;
/**
 * A stream is ended after this long (ms). The browser then reconnects with a new request, so that a proxy's sign-in is
 * checked again.
 */
export const LIVE_STREAM_AGE = 15 * Minute;
/** How long browsers wait before they reconnect (ms): a random time between these. */
export const LIVE_RETRY_SHORTEST = 1 * Second;
export const LIVE_RETRY_LONGEST = 5 * Second;
/** Open streams (counts): in total, and for each session. A page without a stream tries again after a minute. */
export const MAX_LIVE_STREAMS = 200;
export const MAX_LIVE_STREAMS_OF_SESSION = 6;
