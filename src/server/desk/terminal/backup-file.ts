import { once } from 'node:events';
import { closeSync, createReadStream, createWriteStream, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { KiB } from '../../../shared/units.ts';
import { type BackupLine, readBackupLine, writeBackupLine } from '../store/backup-lines.ts';
import { BackupError, NO_BACKUP } from '../store/restore-backup.ts';
import { TerminalError } from './terminal-error.ts';

type WriteLines = (onLine: (line: BackupLine) => Promise<void>) => Promise<void>;

/**
 * Writes a backup to a file that its owner alone may read. Until it is whole it has another name.
 *
 * @param force over a file that is there
 * @throws TerminalError where it cannot be written
 */
export async function writeBackupFile(file: string, write: WriteLines, { force }: { force: boolean }): Promise<void> {
  if (!force) reserve(file);
  const part = `${file}.part`;
  try {
    rmSync(part, { force: true });
    await writeBackupTo(createWriteStream(part, { flags: 'wx', mode: 0o600, flush: true }), write, { end: true });
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    if (!force) rmSync(file, { force: true });
    throw toWriteError(error, file);
  }
}

/** Nobody else can make it from here on. */
function reserve(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    throw toWriteError(error, file);
  }
}

function toWriteError(error: unknown, file: string): unknown {
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (code === 'EEXIST') {
    return new TerminalError(`${file} is there already. Choose another name, or write over it with --force.`);
  }
  if (code === 'ENOENT' && !existsSync(dirname(file))) {
    return new TerminalError(`There is no folder ${dirname(file)}. Make it first.`);
  }
  return syscall === undefined ? error : new TerminalError(`${file} cannot be written: ${message}.`);
}

/** What is compressed at once (characters): each piece goes to a thread and back. */
const CHUNK_LENGTH = 64 * KiB;

/** @param end whether the target is closed behind it */
export async function writeBackupTo(
  target: NodeJS.WritableStream,
  write: WriteLines,
  { end }: { readonly end: boolean },
): Promise<void> {
  const gzip = createGzip();
  const written = pipeline(gzip, target, { end });
  // Told below: until then nobody waits for it.
  written.catch(() => undefined);
  let lines: string[] = [];
  let length = 0;
  async function flush(): Promise<void> {
    const text = lines.join('');
    lines = [];
    length = 0;
    if (!gzip.write(text)) await Promise.race([once(gzip, 'drain'), written]);
  }
  try {
    await write(async (line) => {
      const text = `${writeBackupLine(line)}\n`;
      lines.push(text);
      length += text.length;
      if (length > CHUNK_LENGTH) await flush();
    });
    gzip.end(lines.join(''));
  } catch (error) {
    gzip.destroy(error instanceof Error ? error : undefined);
    throw error;
  }
  await written;
}

/**
 * The lines of a backup; undefined for one that is none.
 *
 * @throws BackupError where the file cannot be read to its end
 */
export async function* readBackupFile(file: string): AsyncGenerator<BackupLine | undefined> {
  const source = createReadStream(file);
  const gunzip = createGunzip();
  source.on('error', (error) => gunzip.destroy(error));
  try {
    for await (const line of splitLines(source.pipe(gunzip))) yield readBackupLine(line);
  } catch (error) {
    throw toReadError(error, file);
  } finally {
    source.destroy();
  }
}

function toReadError(error: unknown, file: string): unknown {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return new TerminalError(`There is no file ${file}.`);
  if (message === 'incorrect header check') return new BackupError(NO_BACKUP);
  if (code.startsWith('Z_')) return new BackupError(`The backup is not whole: ${message}. Nothing was restored.`);
  return /^E[A-Z]+$/.test(code) ? new TerminalError(`${file} cannot be read: ${message}.`) : error;
}

/** At line feeds alone: a text may hold other ends of lines. */
async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      yield Buffer.concat([...parts, chunk.subarray(start, end)]).toString('utf8');
      parts = [];
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  }
  if (parts.length > 0) yield Buffer.concat(parts).toString('utf8');
}
