import fs from 'node:fs';
import { styleText } from 'node:util';
import pino from 'pino';
import { KiB, MiB, Minute, Second } from '../../shared/units.ts';
import { ASSET_PREFIX } from '../../shared/wire/protocol.ts';
import type { Count } from './counters.ts';

interface LoggerOptions {
  readonly level: string;
  /** The output is a terminal: pretty lines instead of JSON, and a short one for a request. */
  readonly terminal: boolean;
  readonly count?: Count;
}

/**
 * Lines are written in batches of this size (UTF-16 code units): a write for each would cost as much as the line. Each write
 * wakes a thread and the reader. A pipe holds 64 KiB.
 */
const GATHERED = 60 * KiB;

/** The longest that a line waits for others (ms). */
const GATHERED_FOR = 100;

/** Maximum size of the lines that wait for a blocked output (bytes). More lines are dropped. */
const MAX_HELD = 4 * MiB;

/** How long the last lines wait for a full pipe when the process ends (ms). */
const FULL_FOR = 2 * Second;

/** The pause after a failed write (ms). */
const WRITE_RETRY_INTERVAL = 1 * Second;
/** How often standard error says that the log cannot be written (ms). */
const COMPLAINT_INTERVAL = 1 * Minute;

/**
 * Logs to standard output without blocking requests. If a pipe or the disk of a file is full, lines wait in memory and
 * are then dropped.
 */
export async function createLogger({ level, terminal, count }: LoggerOptions) {
  // Without a listener, a terminal or a reader that is gone would be an uncaught exception, whose log line fails again.
  process.stdout.on('error', () => count?.('spillway_log_failed_writes_total', {}));
  process.stderr.on('error', () => undefined);
  if (terminal) {
    const { default: pretty } = await import('pino-pretty');
    const format = pretty.prettyFactory({ ignore: 'pid,hostname' });
    const write = (line: string) => process.stdout.write(escapeControls(toRequestLine(line) ?? format(line)));
    return { log: pino({ level, base: null }, { write }), flush: () => undefined };
  }
  let held = '';
  function pass(): void {
    // As bytes, because it would copy what waits for each text.
    if (held !== '') destination.write(Buffer.from(escapeControls(held)) as never); // typed for text only
    held = '';
  }
  // Before those of the destination, which then writes what is left.
  for (const event of ['beforeExit', 'exit']) process.on(event, pass);
  const destination = pino.destination({ dest: 1, sync: false, contentMode: 'buffer', maxLength: MAX_HELD });
  // pino throws each error of a write, and retries forever when the process ends.
  const complain = createComplaint(count);
  let hasFailed = false;
  destination.on('error', (error: Error) => {
    hasFailed = true;
    complain(error);
  });
  destination.on('drop', () => count?.('spillway_log_failed_writes_total', {}));
  // SonicBoom tries again with the next line, but drops all lines that do not fit beside those that wait.
  setInterval(() => {
    if (!hasFailed) return;
    hasFailed = false;
    destination.write(Buffer.alloc(0) as never);
  }, WRITE_RETRY_INTERVAL).unref();
  const flushSync = destination.flushSync.bind(destination);
  destination.flushSync = () => flushQuietly(flushSync);
  setInterval(pass, GATHERED_FOR).unref();
  const output = {
    write(line: string) {
      held += line;
      if (held.length >= GATHERED) pass();
    },
    /** For `log.flush()`. */
    flush(done: (error?: Error) => void) {
      pass();
      destination.flush(done);
    },
  };
  const log = pino({ level, base: null, timestamp: toIsoTime }, output);
  return {
    log,
    /** Writes out buffered lines, possibly before those that are being written. Call it before the process ends. */
    flush(): void {
      pass();
      destination.flushSync();
    },
  };
}

/**
 * Escapes characters that JSON leaves as they are, but that terminals, editors and line readers interpret: the control
 * characters beyond ASCII (U+009B begins a command, like Escape), and the line ends of Unicode.
 */
export function escapeControls(line: string): string {
  return OBEYED.test(line) ? line.replace(EACH_OBEYED, toEscape) : line;
}

const OBEYED = /[\u007f-\u009f\u2028\u2029]/;
const EACH_OBEYED = new RegExp(OBEYED, 'g');

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Creates a listener that counts failed writes, and reports them on standard error, which can be on the same full disk. */
function createComplaint(count: Count | undefined): (error: Error) => void {
  let last = Number.NEGATIVE_INFINITY;
  return ({ message }) => {
    count?.('spillway_log_failed_writes_total', {});
    if (performance.now() - last < COMPLAINT_INTERVAL) return;
    last = performance.now();
    try {
      fs.writeSync(
        2,
        `The log cannot be written to standard output: ${message}. Lines wait in memory and are then dropped.\n`,
      );
    } catch {
      // The counter remains.
    }
  };
}

/**
 * If nothing reads the log any more, `flushSync` of SonicBoom retries forever and the process never ends. It has no option
 * against that, so during this one synchronous call a write that cannot succeed counts as done, and so does one into a
 * pipe that stays full.
 */
function flushQuietly(flushSync: () => void): void {
  const { writeSync } = fs;
  const end = performance.now() + FULL_FOR;
  fs.writeSync = ((fd: number, text: string | Uint8Array): number => {
    try {
      return writeSync(fd, text as string);
    } catch (error) {
      const isFull = ['EAGAIN', 'EBUSY'].includes(String((error as NodeJS.ErrnoException).code));
      if (isFull && performance.now() < end) throw error; // SonicBoom tries again
      return Buffer.byteLength(text);
    }
  }) as typeof writeSync;
  try {
    flushSync();
  } catch {
    // It was never opened, or is already closed.
  } finally {
    fs.writeSync = writeSync;
  }
}

let second = Number.NaN;
let secondText = '';

/** `,"time":"2026-11-21T09:30:00.123Z"`: the text of a second is made once, for all of its lines. */
function toIsoTime(): string {
  const now = Date.now();
  const milliseconds = now % Second;
  if (now - milliseconds !== second) {
    second = now - milliseconds;
    secondText = `,"time":"${new Date(second).toISOString().slice(0, -4)}`; // without `000Z`
  }
  return `${secondText}${String(milliseconds).padStart(3, '0')}Z"`;
}

/** The fields of an access log entry that a terminal shows. */
interface RequestEntry {
  readonly time: number;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  readonly digest?: string;
  readonly gone?: boolean;
  readonly broken?: boolean;
}

/**
 * Formats one short line for a request, for development. Assets that were served get no line.
 *
 * @param line an entry of the log, as JSON
 * @returns undefined if the entry is not about a request
 */
function toRequestLine(line: string): string | undefined {
  if (!line.includes('"msg":"request"')) return undefined;
  const { time, method, path, status, ms, digest, gone, broken } = JSON.parse(line) as RequestEntry;
  if (path.startsWith(ASSET_PREFIX) && status < 400) return '';
  const colour = status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green';
  const clock = styleText('gray', new Date(time).toTimeString().slice(0, 8));
  const after = [digest, gone && 'the visitor left', broken && 'it broke off']
    .filter(Boolean)
    .map((words) => `  ${words}`);
  return `${clock} ${method} ${path} ${styleText(colour, String(status))} ${ms} ms${after.join('')}\n`;
}
