import type { Logger } from 'pino';
import { KiB } from '../../../shared/units.ts';
import type { Breadcrumb } from '../errors/failure.ts';
import type { Scrubber } from '../errors/scrub.ts';
import { cutText } from '../errors/trim.ts';
import { currentRequest, type LogLine } from '../request/request-info.ts';

/**
 * The app's log. If a request fails, its incident shows the last 50 lines that were written while the request was
 * handled, whatever `LOG_LEVEL` is.
 */
export interface AppLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Adds the request's id to each line, and remembers the line for a failure of the request. */
export function createAppLog(log: Pick<Logger, keyof AppLog>): AppLog {
  const write = (level: keyof AppLog) => (given: object, message: string) => {
    const fields = given instanceof Error ? { err: given } : given;
    const info = currentRequest();
    info?.addLine({ at: Date.now(), level, fields, message });
    log[level](info ? { requestId: info.requestId, ...fields } : fields, message);
  };
  return { info: write('info'), warn: write('warn'), error: write('error') };
}

/** Size of the lines that a failure contains (UTF-16 code units of JSON). */
const MAX_TEXT = 16 * KiB;
/** Fields of a line that are shown (count). */
const MAX_FIELDS = 12;

/** Formats the newest lines as breadcrumbs, as far as there is room. */
export function formatLines(lines: readonly LogLine[], scrubber: Scrubber): Breadcrumb[] {
  const formatted: Breadcrumb[] = [];
  let left = MAX_TEXT;
  for (const line of lines.toReversed()) {
    const breadcrumb = formatLine(line, scrubber);
    left -= JSON.stringify(breadcrumb).length;
    if (left < 0) break;
    formatted.push(breadcrumb);
  }
  return formatted.reverse();
}

function formatLine({ at, level, fields, message }: LogLine, scrubber: Scrubber): Breadcrumb {
  const shown = Object.entries(Object(scrubber.value(fields))).slice(0, MAX_FIELDS);
  const data = shown.map(([name, value]) => [cutText(name), toShort(value)]);
  return {
    at,
    category: 'log',
    level: level === 'warn' ? 'warning' : level,
    message: cutText(scrubber.text(String(message))),
    data: Object.fromEntries(data),
  };
}

function toShort(value: unknown): string | number | boolean {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  return cutText(typeof value === 'string' ? value : String(JSON.stringify(value)));
}
