/** The part of pino that the desk uses. The desk worker's log sends its lines to the main thread. */
export interface DeskLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
