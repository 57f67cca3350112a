import type { Environment } from '../../engine/settings.ts';
import type { DeskLog } from '../desk-log.ts';
import { type Line, type Paper, toText } from './paint.ts';
import type { TerminalSettings } from './read-terminal-settings.ts';

/** What a command works with. */
export interface Desktop {
  readonly settings: TerminalSettings;
  readonly env: Environment;
  readonly paper: Paper;
  /** Standard output: what was asked for. */
  readonly out: NodeJS.WritableStream & { readonly isTTY?: boolean };
  /** Standard error: what is to be said besides. */
  readonly tell: (sentence: string) => void;
  /** How this command is called: `npm run desk --`. */
  readonly command: string;
  /** The build at hand, and its folder. */
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
