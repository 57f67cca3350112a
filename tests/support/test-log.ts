export interface LoggedLine {
  readonly level: string;
  readonly message: string;
  readonly fields: object;
}

/** The part of pino that most code uses. */
interface TestLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A log whose lines a test can read. */
export function createTestLog(): { log: TestLog; lines: LoggedLine[] } {
  const lines: LoggedLine[] = [];
  const to = (level: string) => (fields: object, message: string) => void lines.push({ level, message, fields });
  return { lines, log: { info: to('info'), warn: to('warn'), error: to('error') } };
}
