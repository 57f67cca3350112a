import type { Logger } from 'pino';
import { currentRequest } from './request-info.ts';

type Write = (fields: object, message: string) => void;

/**
 * The app's log. If a request fails, its incident shows the last lines that were written while the request was
 * handled, whatever `LOG_LEVEL` is.
 */
export interface AppLog {
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}

/** Adds the request's id to each line, and remembers the line for a failure of the request. */
export function createAppLog(log: Pick<Logger, keyof AppLog>): AppLog {
  function toWrite(name: keyof AppLog): Write {
    const level = name === 'warn' ? 'warning' : name;
    // Code that no compiler has checked can pass the message alone, as to pino.
    return (given: object | string, text: unknown = '') => {
      const [fields, message] = typeof given === 'string' ? [{}, given] : [given, String(text)];
      const data = fields instanceof Error ? { err: fields } : { ...fields };
      const info = currentRequest();
      info?.addBreadcrumb({ category: 'log', level, message, data });
      log[name](info ? { requestId: info.requestId, ...data } : data, message);
    };
  }
  return { info: toWrite('info'), warn: toWrite('warn'), error: toWrite('error') };
}
