import { Day, Hour, KiB, MiB, Millisecond, Minute, Second } from '../../shared/units.ts';

// The journal

/**
 * Full events that one digest can write in a second, for servers and for browsers (a count). The others are sampled
 * out.
 */
export const FULL_PER_SECOND = 20;
/** A segment is closed at this size (bytes), so that it can be deleted once it is stored. */
export const SEGMENT_BYTES = 8 * MiB;
/**
 * The most journaled data that waits for the store, including segments of dead processes (bytes). Beyond it, failures are
 * only in the log, and those of browsers already beyond half of it.
 */
export const MAX_JOURNAL_BYTES = 256 * MiB;

// The desk worker

/** How long lines gather before they are stored (ms). It is below the 250 ms within which other replicas see them. */
export const GATHER_TIME = 100 * Millisecond;
/**
 * Journal data that one transaction stores (bytes): some ten full entries, or some hundred sampled-out ones. With SQLite, the
 * desk worker answers nothing else in this time.
 */
export const BATCH_BYTES = 64 * KiB;
/** Tries of a batch that the store refuses, before its entries are stored one by one (a count): some 15 s. */
export const MAX_BATCH_TRIES = 6;
/** How long a call waits for the journal to be stored (ms). Calls should be answered within 300 ms. */
export const SETTLE_PATIENCE = 150 * Millisecond;
/** How long a change waits for the journal to be stored (ms). */
export const CHANGE_PATIENCE = 2 * Second;
/** How often the main thread reports the requests in flight (ms). */
export const HEARTBEAT_INTERVAL = 1 * Second;
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

// The store

/** Occurrences of an incident that are kept in an hour, for servers and for browsers (a count). Others are only counted. */
export const MAX_OCCURRENCES_PER_HOUR = 1000;
/**
 * Full occurrences that are stored of an incident in an hour, for servers and for browsers (a count). Visitors quote addresses
 * from the last hours, so most of those must be stored in full.
 */
export const FULL_PER_HOUR = 100;
/** How long the maps and assets of a build are kept after it last ran (ms), and their size in total (bytes). */
export const BUILD_AGE = 30 * Day;
export const MAX_BUILD_BYTES = 200 * MiB;
/** The shortest time that counts by hour are kept (ms). The longest filter of the list is 30 days. */
export const HOUR_AGE = 31 * Day;
/** How long the list of ended processes is kept (ms). */
export const PROCESS_AGE = 30 * Day;
/** How often old data is deleted (ms). */
export const RETENTION_INTERVAL = 5 * Minute;
/** Rows that one transaction deletes (a count). A longer one would delay new entries. */
export const DELETE_BATCH = 1000;

// Revalidations

/** The longest path that other replicas are told of (bytes): an index of PostgreSQL takes 2,704. */
export const MAX_REVALIDATED = 2000;

// Source maps

/** Decoded maps in memory (bytes of their text; decoded they take about ten times as much). */
export const MAX_MAP_BYTES = 8 * MiB;
/** A larger map is not read: its text, and its mappings, which take 17 times as much once they are decoded (bytes). */
export const MAX_MAP_TEXT = 32 * MiB;
export const MAX_MAPPINGS = 8 * MiB;
/** Source lines shown before and after a place (a count), and the width that they are cut to (characters). */
export const CONTEXT_LINES = 5;
export const MAX_CONTEXT_WIDTH = 250;

/** The largest file of a build that is published (bytes). */
export const MAX_BUILD_FILE_BYTES = 32 * MiB;

// Sign-in

/** How long a session lasts (ms). */
export const SESSION_TIME = 12 * Hour;
/** How long a sign-in link is valid (ms). */
export const LINK_TIME = 15 * Minute;
/** The size of a form of the desk (bytes). Notes are the largest. */
export const MAX_DESK_FORM_BYTES = 64 * KiB;

// Notifications

/** Different visitors within a day who must have met a failure that only browsers report (a count). */
export const BELIEVED_VISITORS = 2;
/** Messages to one target in an hour, and the incidents in one (counts). What does not fit waits for the next one. */
export const MAX_MESSAGES_PER_HOUR = 20;
export const MAX_IN_MESSAGE = 20;
/** Attempts to send one message (a count). With the waits below, they take almost two and a half hours. */
export const MAX_NOTIFICATION_ATTEMPTS = 12;
/** First and longest wait before the next attempt (ms). `Retry-After` can ask for more. */
export const NOTIFICATION_RETRY_FIRST = 5 * Second;
export const NOTIFICATION_RETRY_LONGEST = 1 * Hour;
/** How long one replica has to send a message that it claimed (ms). Then another replica, or the next start, tries. */
export const NOTIFICATION_LEASE = 1 * Minute;
/** How long notifications are kept (ms), also those that were never sent. */
export const NOTIFICATION_AGE = 30 * Day;
/** How often due notifications are looked for (ms). */
export const NOTIFICATION_INTERVAL = 5 * Second;

// Live pages

/** How often the store is checked for changes while a page is open (ms). It is one short statement. */
export const LIVE_POLL_INTERVAL = 1 * Second;
/** How often a stream sends a ping and checks its session (ms). Proxies close a connection after 60 s without data. */
export const LIVE_PING_INTERVAL = 20 * Second;
/** Open streams (a count). A page without a stream tries again. */
export const MAX_LIVE_STREAMS = 200;
