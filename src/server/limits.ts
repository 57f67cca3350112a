import { KiB, MiB, Second } from '../shared/units.ts';

// The request line and headers

/** Longest path and search (characters); 414 beyond. Below the parser's own bound, so that there is an answer in words. */
export const MAX_TARGET_LENGTH = 8 * KiB;
/** Request line and headers together (bytes); 431 beyond. What nginx and most load balancers take too. */
export const MAX_HEADER_BYTES = 16 * KiB;

// Connections

/** All headers must have come (ms): against clients that send one byte now and then. */
export const HEADERS_TIMEOUT = 10 * Second;
/** The default of REQUEST_TIMEOUT (ms): uploads take minutes. */
export const REQUEST_TIMEOUT = 300 * Second;
/** How often the two above are looked at (ms). */
export const TIMEOUT_CHECK_INTERVAL = 2 * Second;
/** The default of SOCKET_TIMEOUT (ms): longer than a long poll waits. */
export const SOCKET_TIMEOUT = 180 * Second;
/** An idle connection is kept (ms), unless KEEP_ALIVE says otherwise: longer than nginx and AWS keep theirs (60 s), so that they close first. */
export const KEEP_ALIVE_TIMEOUT = 72 * Second;
/** Kept beyond what is announced (ms), for a request that is already on its way. */
export const KEEP_ALIVE_BUFFER = 1 * Second;
/** Connections at once (a count), or fewer if the system lets the process open fewer files. */
export const MAX_CONNECTIONS = 8192;
/** Of these, connections of one address, unless MAX_CONNECTIONS_PER_ADDRESS is set (a share): enough for an office. */
export const ADDRESS_SHARE = 1 / 4;
/** Of these, connections to DESK_PORT (a share). */
export const DESK_SHARE = 1 / 16;
/** Files and connections of the store, the journal and reporters, for which file descriptors are kept free (a count). */
export const RESERVED_FILES = 256;

/**
 * Connections that the system holds for us until we take them (a count). One is taken in each turn of the
 * event loop; what finds no place tries again after 1, 3 and 7 s. The system may allow less (`somaxconn`).
 */
export const CONNECTION_BACKLOG = 4096;

// Bodies

/** Bodies that are held in memory, unfinished or being parsed: of forms, feedback and reports together (bytes). */
export const MAX_BODY_BYTES = 64 * MiB;
/** Of these, the bodies of one sender (bytes): uploads of an office at once. */
export const MAX_SENDER_BODY_BYTES = 16 * MiB;
/** Unfinished bodies of one sender (a count). */
export const MAX_SENDER_BODIES = 1024;
/** An unfinished body must grow by so much (bytes) in each window (ms); 408 if not. A phone on a poor line sends about 1 KiB a second. */
export const MIN_BODY_PROGRESS = 1 * KiB;
export const BODY_PROGRESS_WINDOW = 5 * Second;

/** A JSON or form body of the API, unless the route says otherwise (bytes). */
export const MAX_API_BODY_BYTES = 100 * KiB;
/** Nesting of a JSON body (levels): deeper ones overflow the stack of whoever walks them. */
export const MAX_JSON_DEPTH = 32;
/** Keys, values and members of a JSON body, unless the route says otherwise (a count): each costs tens of times the byte that it may be. */
export const MAX_JSON_NODES = 50_000;
/** Fields of a form body (a count). */
export const MAX_FORM_FIELDS = 1000;

// Files

/** Files up to this size are kept in memory (bytes); larger ones are read from the disk for each request. */
export const MAX_BUFFERED_FILE_BYTES = 512 * KiB;
