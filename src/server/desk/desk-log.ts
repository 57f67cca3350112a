/** What of pino the desk uses; the desk worker's own sends its lines to the main thread. */
export interface DeskLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
