import { styleText } from 'node:util';

/** The fields of an access log entry that a terminal shows. */
interface RequestEntry {
  readonly time: number;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  readonly digest?: string;
  readonly gone?: boolean;
}

/**
 * Formats one short line for a request, for development. Assets that were served get no line.
 *
 * @param line an entry of the log, as JSON
 * @returns undefined if the entry is not about a request
 */
export function toRequestLine(line: string): string | undefined {
  if (!line.includes('"msg":"request"')) return undefined;
  const { time, method, path, status, ms, digest, gone } = JSON.parse(line) as RequestEntry;
  if (path.startsWith('/assets/') && status < 400) return '';
  const colour = status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green';
  const clock = styleText('gray', new Date(time).toTimeString().slice(0, 8));
  const after = [digest, gone && 'the visitor left'].filter(Boolean).map((words) => `  ${words}`);
  return `${clock} ${method} ${path} ${styleText(colour, String(status))} ${ms} ms${after.join('')}\n`;
}
