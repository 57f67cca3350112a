import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, type Environment } from '../../engine/settings.ts';
import { toCleanLines } from '../../terminal/clean-text.ts';
import { toCommandName } from '../../terminal/command-name.ts';
import { toPaper } from '../../terminal/paper.ts';
import { TerminalError, UsageError } from '../../terminal/terminal-error.ts';
import type { DeskLog } from '../desk-log.ts';
import { StoreError } from '../store/sql.ts';
import type { Desktop } from './desktop.ts';
import { parseCommand } from './parse-command.ts';
import { readTerminalSettings } from './read-terminal-settings.ts';
import { runCommand } from './run-command.ts';

export interface TerminalOptions {
  /** The arguments after the name of the command. */
  readonly args: readonly string[];
  readonly env: Environment;
  readonly out: Desktop['out'] & { readonly columns?: number };
  readonly err: NodeJS.WritableStream;
  /** The folder of the build. */
  readonly dist: string;
  /** Milliseconds since 1970. */
  readonly now?: number;
}

/** Errors whose message explains enough without a stack. */
const EXPECTED = [TerminalError, ConfigError, StoreError];

/** @returns the exit code: 0, 1 if the command fails or finds nothing, 2 for wrong usage */
export async function runTerminal({ args, env, out, err, dist, now = Date.now() }: TerminalOptions): Promise<number> {
  // Some of the text is untrusted, such as names of files.
  const tell = (text: string) => void err.write(`${toCleanLines(text).join('\n')}\n`);
  try {
    const command = parseCommand(args, now);
    await runCommand(command, {
      settings: readTerminalSettings(env),
      env,
      paper: toPaper(out, env),
      out,
      tell,
      command: toCommandName(env, 'desk'),
      build: readBuildId(dist),
      dist,
      log: createTerminalLog(tell),
      now,
    });
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      tell(error.message);
      return 2;
    }
    const isExpected = EXPECTED.some((kind) => error instanceof kind);
    tell(isExpected ? (error as Error).message : `The command failed: ${toStack(error)}`);
    return 1;
  }
}

/** Returns an empty id if only the command was built. */
function readBuildId(dist: string): string {
  try {
    const { buildId } = JSON.parse(readFileSync(join(dist, 'manifest.json'), 'utf8')) as { buildId?: unknown };
    return typeof buildId === 'string' ? buildId : '';
  } catch {
    return '';
  }
}

/** Logs the desk worker's warnings and errors. Routine messages are dropped. */
function createTerminalLog(tell: (text: string) => void): DeskLog {
  const say = (_fields: object, message: string) => tell(message);
  return { info: () => undefined, warn: say, error: say };
}

function toStack(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
