import type { Environment } from '../../engine/settings.ts';
import { type Line, type Paper, toText } from '../../terminal/paint.ts';
import type { DeskLog } from '../desk-log.ts';
import type { TerminalSettings } from './read-terminal-settings.ts';

/** The environment that a command runs in. */
export interface Desktop {
  readonly settings: TerminalSettings;
  readonly env: Environment;
  readonly paper: Paper;
  /** Standard output, for results. */
  readonly out: NodeJS.WritableStream & { readonly isTTY?: boolean };
  /** Writes a sentence to standard error. */
  readonly tell: (sentence: string) => void;
  /** How the user calls this command: `npm run desk --`. */
  readonly command: string;
  /** The id of the current build, and its folder. */
  readonly build: string;
  readonly dist: string;
  readonly log: DeskLog;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export function write({ out }: Pick<Desktop, 'out'>, text: string): void {
  out.write(text);
}

export function draw(desktop: Pick<Desktop, 'out' | 'paper'>, lines: readonly Line[]): void {
  write(desktop, toText(lines, desktop.paper));
}
