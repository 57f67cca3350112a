import { Day, Hour, KiB, MiB, Millisecond, Minute, Second } from '../../shared/units.ts';

// The journal

/** Full events that one digest may write in a second, for servers and for browsers (a count); the others are thin. */
export const WHOLE_PER_SECOND = 20;
/** A segment is closed at this size (bytes), so that what was taken in can be deleted. */
export const SEGMENT_BYTES = 8 * MiB;
/** What may wait for the store (bytes), segments of dead processes included; beyond it counts alone are kept. */
export const MAX_JOURNAL_BYTES = 256 * MiB;
/** Different digests, hours and sides that can be counted while the journal is full (a count). */
export const MAX_COUNT_SLOTS = 2048;

// The desk worker

/** How long lines gather before they are taken in (ms): below the 250 ms that other replicas are promised. */
export const GATHER_TIME = 100 * Millisecond;
/** What of a journal one transaction stores (bytes): some hundred to some thousand thin records. */
export const BATCH_BYTES = { least: 64 * KiB, most: 2 * MiB };
/**
 * How long one should take, and at most twice as long (ms). Large ones cost less. With SQLite (`alone`) the
 * desk worker answers nothing else in this time.
 */
export const BATCH_TIME = { alone: 40 * Millisecond, shared: 250 * Millisecond };
/** How often a batch that the store refuses is tried before its entries are looked at one by one (a count): some 15 s. */
export const MAX_BATCH_TRIES = 6;
/** For how long failures are stored without search text and notifications after the store has refused those (ms). */
export const EXTRAS_PAUSE = 30 * Second;
/** Size of the file of entries that the store keeps refusing (bytes). Beyond it they are only counted. */
export const MAX_DEAD_LETTER_BYTES = 16 * MiB;
/** How long a question waits until the journal is stored (ms): it is to be answered within 300 ms. */
export const SETTLE_PATIENCE = 150 * Millisecond;
/** How long a change waits for it (ms). */
export const CHANGE_PATIENCE = 2 * Second;
/** How often the main thread tells what is in flight (ms). */
export const BEAT_INTERVAL = 1 * Second;
/** First and longest wait before the store is tried again (ms). */
export const RETRY_FIRST = 250 * Millisecond;
export const RETRY_LONGEST = 10 * Second;
/** Without a heartbeat for this long, in which the store could be reached, a replica counts as dead (ms). */
export const DEAD_AFTER = 60 * Second;
/** How long an address that is not known yet is looked up again, while it may still arrive (ms). */
export const LOOKUP_PATIENCE = 2 * Second;
/** How long a drain waits for its journal to be taken in (ms). */
export const CLOSE_PATIENCE = 3 * Second;

// The watchdog

/** How often the main thread shows that it comes round, and how often that is looked at (ms). */
export const PULSE_INTERVAL = 200 * Millisecond;
/** The main thread counts as blocked after this long without a pulse (ms). */
export const BLOCKED_AFTER = 1 * Second;

// Memory

/** Points of the history of memory (a count): when it is full, two become one. A thousand bytes of text. */
export const MEMORY_POINTS = 48;
// The store

/** Occurrences of an incident that are kept in an hour (a count); past it the hour is marked as thinned. */
export const MAX_OCCURRENCES_PER_HOUR = 1000;
/**
 * Full occurrences that are kept of an incident (counts): the first, some of each hour, the newest, and
 * some that visitors wrote about. Visitors quote addresses from the last hours, so most of those must
 * lead to a full story. When the store runs out of room, the oldest of the hourly ones are deleted first.
 */
export const FIRST_WHOLES = 10;
export const WHOLES_PER_HOUR = 100;
export const NEWEST_WHOLES = 20;
export const MAX_SAID_WHOLES = 20;
/** Hours older than this can be deleted to make room (ms): charts go back for 14 days. */
export const HOUR_AGE = 30 * Day;
/** A clock that differs from the store's by more than this deletes nothing (ms). */
export const MAX_CLOCK_SKEW = 5 * Minute;
/** How long the maps and assets of a build are kept after it last ran (ms), and how much of them (bytes). */
export const BUILD_AGE = 30 * Day;
export const MAX_BUILD_BYTES = 200 * MiB;
/** How long the list of ended runs is kept (ms). */
export const RUN_AGE = 30 * Day;
/** How often what is too old is deleted (ms), and how often the store is looked at for having grown (ms, and by which share). */
export const RETENTION_INTERVAL = 1 * Hour;
export const SIZE_CHECK_INTERVAL = 5 * Minute;
export const SIZE_GROWTH = 0.05;
/** Rows that one transaction deletes (a count): a longer one would hold up what is to be stored. */
export const DELETE_BATCH = 1000;

// Source maps

/** Maps kept decoded (bytes of their text; decoded they take about ten times as much), and for how long after use (ms). */
export const MAX_MAP_BYTES = 8 * MiB;
export const MAP_IDLE_TIME = 1 * Minute;
/** Lines of source shown before and after a place (a count), and where they are cut (characters). */
export const CONTEXT_LINES = 5;
export const MAX_CONTEXT_WIDTH = 250;

// Assets of earlier builds

/** Kept in the main thread (bytes), and how long "there is none" is believed (ms): another replica may publish it. */
export const MAX_OLD_ASSET_BYTES = 16 * MiB;
export const UNKNOWN_ASSET_TIME = 10 * Second;
/** The largest file of a build that is published (bytes). */
export const MAX_BUILD_FILE_BYTES = 32 * MiB;

/** Length of a slot in a file of counts (bytes): what holds the longest title. */
export const COUNT_SLOT_BYTES = KiB;

// Sign-in

/** How long a session lasts (ms). */
export const SESSION_TIME = 12 * Hour;
/** How long reads reuse the store's answer about a session (ms), and for how many sessions (a count). */
export const SESSION_CACHE_TIME = 2 * Second;
export const MAX_CACHED_SESSIONS = 1000;
/** Wrong tokens in a minute after which a sender has to wait (counts): from its address, its /64 and its /48 network of IPv6. */
export const MAX_ATTEMPTS: readonly number[] = [5, 10, 20];
/** Wrong tokens in a minute from all senders after which answers are held back (a count), for how long (ms), and how many at once (a count). */
export const MAX_ATTEMPTS_OF_ALL = 30;
export const ATTEMPT_HOLD = 2 * Second;
export const MAX_HELD_ATTEMPTS = 200;
/** Senders of wrong tokens that a process counts in a minute (a count, about 4 MB), and how many of them the store counts too (a count). */
export const MAX_COUNTED_SENDERS = 30_000;
export const MAX_SHARED_SENDERS = 200;
/** The least time between two updates of the store's counts (ms). */
export const ATTEMPTS_SHARE_INTERVAL = 1 * Second;
/** A form of the desk (bytes): a note has the most of them. */
export const MAX_DESK_FORM_BYTES = 64 * KiB;

// Telling

/**
 * What counts as a storm: an incident that an hour of the clock has counted so often (a count), and so
 * many times as often as the busiest of the 24 hours before (a factor). It is told of once a day.
 */
export const STORM = { least: 100, times: 10 };
/** Different visitors within a day who must have met what only browsers have seen (a count, SPEC section 6). */
export const BELIEVED_VISITORS = 2;
/** Messages to one target in an hour (a count, SPEC section 7); what comes beyond is told together. */
export const MAX_NOTICES_AN_HOUR = 20;
/** How long a summary waits for more to gather (ms); there is one an hour at most. */
export const SUMMARY_GATHER_TIME = 30 * Second;
/** Tries of one message (a count): with the waits below, over two and a half hours. */
export const MAX_NOTICE_TRIES = 12;
/** First and longest wait before a target that failed is tried again (ms); a `Retry-After` may ask for more. */
export const NOTICE_RETRY_FIRST = 5 * Second;
export const NOTICE_RETRY_LONGEST = 1 * Hour;
/** How long one replica may take to send what it claimed (ms): after it another one, or the next start, tries. */
export const NOTICE_CLAIM_TIME = 1 * Minute;
/** What could not be told for this long is no news (ms). */
export const NOTICE_PATIENCE = 1 * Day;
/** How long the record of what was told is kept (ms). */
export const NOTICE_AGE = 30 * Day;
/** How often it is looked whether something is due (ms). */
export const NOTICE_INTERVAL = 5 * Second;
/** A receiver's time to take a connection, and to answer in all (ms). */
export const TARGET_CONNECT_TIME = 5 * Second;
export const TARGET_TIME = 10 * Second;
/** What is read of a receiver's answer before the connection is cut (bytes); nobody looks at it. */
export const MAX_TARGET_REPLY_BYTES = 16 * KiB;
/** How often `HEARTBEAT_URL` is called (ms, SPEC section 8). */
export const HEARTBEAT_INTERVAL = 1 * Minute;

// What strangers can send

/** How old a failure may be when a visitor writes about it (ms). */
export const FEEDBACK_AGE = 1 * Day;
/** Feedback: how many a sender, all senders, and one failure may get (counts), and how much text (bytes). */
export const FEEDBACK_LIMITS = {
  turnsOfSender: { burst: 5, perSecond: Second / Minute },
  turns: { burst: 60, perSecond: 1 },
  ofFailure: { burst: 20, perSecond: (20 * Second) / Hour },
  bytesOfSender: { burst: 32 * KiB, perSecond: (64 * KiB * Second) / Hour },
  bytes: { burst: 1 * MiB, perSecond: (4 * MiB * Second) / Hour },
};
/** How old a server's failure may be when a browser reports that it saw it too (ms). */
export const ECHO_AGE = 1 * Hour;

// Live pages

/** How often the store is asked whether something changed, while somebody looks (ms): one short statement. */
export const LIVE_POLL_INTERVAL = 1 * Second;
/** How often a stream says that it is there, and its session is asked for again (ms): proxies cut after 60 s of silence. */
export const LIVE_PING_INTERVAL = 20 * Second;
/** A stream is ended after this long (ms), and comes again as a new request: whom a proxy signs in is looked at again. */
export const LIVE_STREAM_AGE = 15 * Minute;
/** How long browsers wait before they come again (ms), each another time between these. */
export const LIVE_RETRY_SHORTEST = 1 * Second;
export const LIVE_RETRY_LONGEST = 5 * Second;
/** Streams that are open at once (counts): in all, and of one session. A page without a stream tries again after a minute. */
export const MAX_LIVE_STREAMS = 200;
export const MAX_LIVE_STREAMS_OF_SESSION = 6;
