import { toClean } from './clean-text.ts';
import { takeWidth, toWidth } from './text-width.ts';

/** The meaning of a text. The paper decides how it looks. */
export type Style =
  | 'title'
  | 'heading'
  | 'strong'
  | 'quiet'
  | 'bad'
  | 'good'
  | 'warning'
  | 'address'
  | 'comment'
  | 'string'
  | 'keyword'
  | 'literal'
  | 'tag';

/** Text from any source. It is cleaned when it is printed. */
export type Piece = string | readonly [style: Style, text: string];

export interface Line {
  readonly pieces: readonly Piece[];
  /** What happens to text that does not fit: it is cut, or it wraps, indented by this many columns. */
  readonly overflow: 'cut' | number;
}

export interface Paper {
  readonly colour: boolean;
  /** Columns; infinite for a pipe or a file. */
  readonly width: number;
}

/** The basic 16 colours, which every terminal theme makes legible. */
const CODES: Readonly<Record<Style, string>> = {
  title: '1',
  heading: '1;36',
  strong: '1',
  quiet: '2',
  bad: '1;31',
  good: '32',
  warning: '33',
  address: '36',
  comment: '2',
  string: '32',
  keyword: '35',
  literal: '33',
  tag: '36',
};

/** A line that wraps. @param indent of the following rows (columns) */
export function flow(pieces: readonly Piece[], indent = 0): Line {
  return { pieces, overflow: indent };
}

export function cut(pieces: readonly Piece[]): Line {
  return { pieces, overflow: 'cut' };
}

export const EMPTY: Line = { pieces: [], overflow: 'cut' };

/** A cleaned piece. */
interface Part {
  readonly style: Style | undefined;
  readonly text: string;
}

/** Renders lines as text. The colours added here are its only control sequences. */
export function toText(lines: readonly Line[], paper: Paper): string {
  const rows = lines.flatMap(({ pieces, overflow }) => {
    const parts = pieces.map(toPart);
    return overflow === 'cut' ? [cutParts(parts, paper.width)] : wrap(parts, paper.width, overflow);
  });
  return rows.map((parts) => `${toRow(parts, paper.colour)}\n`).join('');
}

function toPart(piece: Piece): Part {
  return typeof piece === 'string'
    ? { style: undefined, text: toClean(piece) }
    : { style: piece[0], text: toClean(piece[1]) };
}

function toRow(parts: readonly Part[], colour: boolean): string {
  const painted = parts.map(({ style, text }) =>
    style && colour && text !== '' ? `\x1b[${CODES[style]}m${text}\x1b[0m` : text,
  );
  const row = painted.join('');
  // Trailing blanks would end up in copied text.
  return colour ? row : row.trimEnd();
}

function cutParts(parts: readonly Part[], width: number): Part[] {
  const whole = parts.reduce((sum, { text }) => sum + toWidth(text), 0);
  if (whole <= width) return [...parts];
  const fitting: Part[] = [];
  let left = width - 1;
  for (const { style, text } of parts) {
    const taken = toWidth(text) <= left ? text : takeWidth(text, left);
    fitting.push({ style, text: taken });
    left -= toWidth(taken);
    if (taken !== text) break;
  }
  fitting.push({ style: 'quiet', text: '…' });
  return fitting;
}

/** The narrowest width that text wraps to (columns). */
const MIN_WRAPPED = 20;

function wrap(parts: readonly Part[], paperWidth: number, indent: number): Part[][] {
  const width = Math.max(paperWidth, MIN_WRAPPED);
  const inset = Math.min(indent, width - MIN_WRAPPED / 2);
  const rows: Part[][] = [[]];
  let left = width;
  const goOn = () => {
    rows.push([{ style: undefined, text: ' '.repeat(inset) }]);
    left = width - inset;
  };
  const put = (part: Part) => {
    const row = rows.at(-1) ?? [];
    const last = row.at(-1);
    // Joins words of the same style again.
    if (last && last.style === part.style) row[row.length - 1] = { ...part, text: last.text + part.text };
    else row.push(part);
    left -= toWidth(part.text);
  };
  for (const { style, text } of parts) {
    for (const word of text.split(/(?<= )(?=[^ ])/)) {
      let rest = word;
      // The blank after a word may overflow.
      if (toWidth(rest.trimEnd()) > left && left < width - inset) goOn();
      while (toWidth(rest.trimEnd()) > left) {
        const taken = takeWidth(rest, left) || rest.slice(0, 1);
        put({ style, text: taken });
        rest = rest.slice(taken.length);
        goOn();
      }
      put({ style, text: rest });
    }
  }
  return rows.map(trimRow);
}

function trimRow(parts: readonly Part[]): Part[] {
  const last = parts.at(-1);
  return last ? [...parts.slice(0, -1), { ...last, text: last.text.trimEnd() }] : [];
}
