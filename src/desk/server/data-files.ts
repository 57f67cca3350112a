// What the desk keeps in DATA_DIR.

/** The folder of journals, with a folder for each process. */
export const JOURNAL_FOLDER = 'journal';
/** Locked while a process with SQLite uses DATA_DIR. */
export const LOCK_FILE = 'instance.lock';
/** The database, unless DESK_DATABASE_URL names another one. */
export const SQLITE_FILE = 'desk.sqlite';
