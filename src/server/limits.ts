import { Hour, KiB, MiB, Second } from '../shared/units.ts';

// The request line and headers

/**
 * The longest path and search (characters), then 414. It is below the parser's limit, so that the response can explain.
 */
export const MAX_TARGET_LENGTH = 8 * KiB;
/** Request line and headers together (bytes), then 431. nginx and most load balancers have the same limit. */
export const MAX_HEADER_BYTES = 16 * KiB;

// Connections

/** The time for all headers to arrive (ms), against clients that send a byte now and then. */
export const HEADERS_TIMEOUT = 10 * Second;
/** The default of REQUEST_TIMEOUT (ms). Uploads take minutes. */
export const REQUEST_TIMEOUT = 300 * Second;
/** How often the two timeouts above are checked (ms). */
export const TIMEOUT_CHECK_INTERVAL = 2 * Second;
/** The default of SOCKET_TIMEOUT (ms). It is longer than a long poll waits. */
export const SOCKET_TIMEOUT = 180 * Second;
/**
 * How long an idle connection is kept (ms), unless KEEP_ALIVE is set. nginx and AWS keep theirs for 60 s, so they close
 * first.
 */
export const KEEP_ALIVE_TIMEOUT = 72 * Second;
/** How much longer it is kept than announced (ms), for a request that is already on its way. */
export const KEEP_ALIVE_BUFFER = 1 * Second;
/** The most open connections (a count), or fewer if the system lets the process open fewer files. */
export const MAX_CONNECTIONS = 8192;
/** The share for one address, unless MAX_CONNECTIONS_PER_ADDRESS is set. It is enough for an office. */
export const ADDRESS_SHARE = 1 / 4;
/** File descriptors that are kept free for files and connections of the store, the journal and reporters (a count). */
export const RESERVED_FILES = 256;

/**
 * Connections that the system queues until the server accepts them (a count). One is accepted in each iteration of the
 * event loop. If the queue is full, a client tries again after 1, 3 and 7 s. The system can have a lower limit
 * (`somaxconn`).
 */
export const CONNECTION_BACKLOG = 4096;
/** What waits in memory for clients that do not read it, all together (bytes). */
export const MAX_UNSENT_BYTES = 64 * MiB;

// Bodies

/** Bodies in memory, unfinished or being parsed, of forms, the API and reports together (bytes). */
export const MAX_BODY_BYTES = 64 * MiB;
/** The part of it for one sender (bytes): uploads of an office at the same time. */
export const MAX_SENDER_BODY_BYTES = 16 * MiB;
/**
 * The most of one multipart form in memory (bytes). Beyond it, its files go to disk. A form that announces more goes
 * there in pieces of the second size.
 */
export const MAX_FORM_MEMORY = 1 * MiB;
export const FORM_PIECE = 256 * KiB;
/** Files of forms on disk, until their responses are sent (bytes), and the part of it for one sender. */
export const MAX_DISK_BYTES = 4096 * MiB;
export const MAX_SENDER_DISK_BYTES = 1024 * MiB;
/** What files of forms leave free on the disk (bytes), for failures and for the store. */
export const MIN_FREE_DISK = 256 * MiB;
/** Unfinished bodies of one sender (a count). */
export const MAX_SENDER_BODIES = 1024;
/**
 * An unfinished body must grow by this much (bytes) in each window (ms), or it gets 408. A phone with a poor connection
 * sends about 1 KiB a second.
 */
export const MIN_BODY_PROGRESS = 1 * KiB;
export const BODY_PROGRESS_WINDOW = 5 * Second;

/**
 * How much of a body is dropped after a response that did not need it (bytes), for how long, and for how long without a
 * byte (ms), so that its sender gets the response and not a reset connection.
 */
export const MAX_UNREAD_BYTES = 8 * MiB;
export const UNREAD_TIME = 2 * Second;
export const UNREAD_SILENCE = Second / 2;
/** Such bodies of one sender at the same time (a count). Others are reset. */
export const MAX_SENDER_UNREAD_BODIES = 256;

/** A JSON or form body of the API, unless the route says otherwise (bytes). */
export const MAX_API_BODY_BYTES = 100 * KiB;
/** Nesting of a JSON body (levels). Deeper ones overflow the stack of code that walks them. */
export const MAX_JSON_DEPTH = 32;
/**
 * Keys, values and members of a JSON body, unless the route says otherwise (a count). Each can be one byte of JSON but
 * takes tens of bytes of memory.
 */
export const MAX_JSON_NODES = 50_000;
/** Fields of a form body (a count). */
export const MAX_FORM_FIELDS = 1000;

// Failures

/** Lengths of the class, the message and a function of an error (UTF-16 code units). */
export const MAX_CLASS_LENGTH = 100;
export const MAX_MESSAGE_LENGTH = 2 * KiB;
export const MAX_FUNCTION_LENGTH = 200;
/** Longest reported component stack (UTF-16 code units). It has a line per component; the innermost are kept. */
export const MAX_COMPONENT_STACK_LENGTH = 8 * KiB;
/** Stack frames kept of a reported error, from the throw outwards. */
export const MAX_REPORTED_FRAMES = 100;
/** Largest reported event (102,400 bytes). Larger ones are trimmed until they fit. */
export const MAX_EVENT_BYTES = 100 * KiB;
/** The part of a text that is scrubbed and kept (UTF-16 code units), so that a megabyte costs no more than a page. */
export const MAX_SCRUBBED_LENGTH = 16 * KiB;

// Reports of browsers

/** The largest report as it is sent, and the largest item in it (bytes). Sentry has the same limit. */
export const MAX_REPORT_BYTES = 1 * MiB;
/** Keys and values of an event (a count). Pages send some 3,000. Larger parts of an event would be cut. */
export const MAX_EVENT_NODES = 20_000;
/** The longest time that a report can have waited in the browser (ms). */
export const MAX_REPORT_AGE = 1 * Hour;
/** How old a failure of the server can be when a browser reports that it saw the same failure (ms). */
export const ECHO_AGE = 1 * Hour;

// Requests to notification targets and mail servers

/** How long a receiver can take to accept a connection, and to respond in total (ms). */
export const TARGET_CONNECT_TIME = 5 * Second;
export const TARGET_TIME = 10 * Second;

// Files

/** Files up to this size are kept in memory (bytes). Larger ones are read from disk for each request. */
export const MAX_BUFFERED_FILE_BYTES = 512 * KiB;
