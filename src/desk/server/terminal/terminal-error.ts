/** Thrown when the arguments are wrong. The message says what is expected. */
export class UsageError extends Error {}

/** Thrown when a command fails, or when what it names does not exist. */
export class TerminalError extends Error {}

/** The start of the message if the server has not created the store yet. */
export const NO_DESK = 'The database has no desk yet.';
