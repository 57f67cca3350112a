import { describe, expect, it } from 'vitest';
import { toClean, toCleanJson, toCleanLines } from '../../../src/server/terminal/clean-text.ts';

/** Text that a terminal would execute or show misleadingly. */
const HOSTILE = [
  '\x1b[2J\x1b[H', // clears the screen
  '\x1b]0;title\x07', // sets the title
  '\x1b]52;c;ZXZpbA==\x07', // writes to the clipboard
  '\x1b]8;;https://evil.example\x1b\\text\x1b]8;;\x1b\\', // a link whose text differs from its target
  '\x9b31m', // CSI as a C1 character
  '\x90q\x9c', // DCS as a C1 character
  'abc\rxyz', // overwrites text
  'abc\b\b\bxyz',
  '\x0e\x0f', // switches the character set
  '\x7f',
  '\u202egnp.exe', // reverses the direction
  '\u2066a\u2069',
  '\u200e\u200f\u061c',
  'a\u2028b\u2029c\x85d', // line ends to some programs
  '\u{e0041}\u{e007f}', // invisible tags
  '\ufeff\u2060\u200b\u00ad', // invisible characters
  '\ud800', // half of a surrogate pair
];
/** Characters that do not belong in a plain line. */
const OBEYED = /[^\P{C}\u200c\u200d]|[\p{Zl}\p{Zp}]/u;

describe('clean text', () => {
  it.each(HOSTILE.map((text) => [JSON.stringify(text), text]))('shows %s in visible characters', (_name, text) => {
    expect(OBEYED.test(text)).toBe(true);
    expect(OBEYED.test(toClean(text))).toBe(false);
  });

  it('says which characters they were', () => {
    expect(toClean('\x1b[2Ja\u202eb\x9bc\u{e0041}')).toBe('\\x1b[2Ja\\u{202e}b\\x9bc\\u{e0041}');
  });

  it('does not change ordinary text', () => {
    const texts = ['naïve café', '日本語', 'مرحبا', 'नमस्ते', '👩‍👩‍👧', 'می‌خواهم', '— “quoted”', 'a\\b'];
    for (const text of texts) expect(toClean(text)).toBe(text);
    expect(toClean('\tx')).toBe('  x');
  });

  it('splits lines at every kind of line end', () => {
    expect(toCleanLines('a\nb\r\nc\rd')).toEqual(['a', 'b', 'c\\x0dd']);
  });

  it('is JSON that parses to the original value', () => {
    const value = { texts: HOSTILE, [HOSTILE[0] ?? '']: 'key' };
    const json = toCleanJson(value);
    for (const line of json.split('\n')) expect(OBEYED.test(line)).toBe(false);
    expect(JSON.parse(json)).toEqual(value);
  });
});
