import { describe, expect, it } from 'vitest';
import { toClean, toCleanJson, toCleanLines } from '../../../../src/server/desk/terminal/clean-text.ts';

/** What a terminal would obey, or be deceived by. */
const HOSTILE = [
  '\x1b[2J\x1b[H', // clears the screen
  '\x1b]0;title\x07', // sets the title
  '\x1b]52;c;ZXZpbA==\x07', // writes to the clipboard
  '\x1b]8;;https://evil.example\x1b\\text\x1b]8;;\x1b\\', // a link that says something else
  '\x9b31m', // CSI of the second set
  '\x90q\x9c', // DCS
  'abc\rxyz', // writes over what stands there
  'abc\b\b\bxyz',
  '\x0e\x0f', // another set of characters
  '\x7f',
  '\u202egnp.exe', // turns the direction
  '\u2066a\u2069',
  '\u200e\u200f\u061c',
  'a\u2028b\u2029c\x85d', // ends of lines for some
  '\u{e0041}\u{e007f}', // tags, which nobody sees
  '\ufeff\u2060\u200b\u00ad', // nothing to be seen
  '\ud800', // half of a pair
];
/** Characters that are none of a plain line. */
const OBEYED = /[^\P{C}\u200c\u200d]|[\p{Zl}\p{Zp}]/u;

describe('clean text', () => {
  it.each(HOSTILE.map((text) => [JSON.stringify(text), text]))('tells %s in visible characters', (_name, text) => {
    expect(OBEYED.test(text)).toBe(true);
    expect(OBEYED.test(toClean(text))).toBe(false);
  });

  it('says which they were', () => {
    expect(toClean('\x1b[2Ja\u202eb\x9bc\u{e0041}')).toBe('\\x1b[2Ja\\u{202e}b\\x9bc\\u{e0041}');
  });

  it('leaves what people write', () => {
    const texts = ['naïve café', '日本語', 'مرحبا', 'नमस्ते', '👩‍👩‍👧', 'می‌خواهم', '— “quoted”', 'a\\b'];
    for (const text of texts) expect(toClean(text)).toBe(text);
    expect(toClean('\tx')).toBe('  x');
  });

  it('keeps the lines of a text, however they end', () => {
    expect(toCleanLines('a\nb\r\nc\rd')).toEqual(['a', 'b', 'c\\x0dd']);
  });

  it('is JSON that reads back as what it was', () => {
    const value = { texts: HOSTILE, [HOSTILE[0] ?? '']: 'key' };
    const json = toCleanJson(value);
    for (const line of json.split('\n')) expect(OBEYED.test(line)).toBe(false);
    expect(JSON.parse(json)).toEqual(value);
  });
});
