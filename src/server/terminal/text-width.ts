const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Characters two columns wide: East Asian letters and emoji. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303f\uff01-\uff60\uffe0-\uffe6])|\ufe0f/u;
/** Characters without a width. */
const NONE = /^[\p{Mn}\p{Me}\u200c\u200d]+$/u;
const ASCII = /^[\x20-\x7e]*$/;

/** Returns the number of columns that a clean text takes. */
export function toWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += widthOf(segment);
  return width;
}

function widthOf(grapheme: string): number {
  if (NONE.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}

/** Shortens a clean text to a width, and ends it with `…` if it was cut. */
export function cutToWidth(text: string, width: number): string {
  if (toWidth(text) <= width) return text;
  return width < 1 ? '' : `${takeWidth(text, width - 1)}…`;
}

/** Returns the longest beginning of a clean text that fits. */
export function takeWidth(text: string, width: number): string {
  if (ASCII.test(text)) return text.slice(0, Math.max(0, width));
  let taken = '';
  let left = width;
  for (const { segment } of segmenter.segment(text)) {
    left -= widthOf(segment);
    if (left < 0) break;
    taken += segment;
  }
  return taken;
}

/** @param align the side that the text is moved to */
export function padToWidth(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const blanks = ' '.repeat(Math.max(0, width - toWidth(text)));
  return align === 'left' ? text + blanks : blanks + text;
}
