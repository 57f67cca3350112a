import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { cut, flow, toText } from '../../../src/server/terminal/paint.ts';
import { toPaper } from '../../../src/server/terminal/paper.ts';
import { cutToWidth, padToWidth, toWidth } from '../../../src/server/terminal/text-width.ts';

const plain = (width: number) => ({ colour: false, width });

describe('columns', () => {
  it.each([
    ['abc', 3],
    ['日本', 4],
    ['한국', 4],
    ['é', 1],
    ['👩‍👩‍👧', 2],
    ['❤️', 2],
    ['ｆｕｌｌ', 8],
    ['', 0],
  ])('of %s are %i', (text, width) => {
    expect(toWidth(text)).toBe(width);
  });

  it('are cut and padded between characters', () => {
    expect(cutToWidth('日本語', 5)).toBe('日本…');
    expect(cutToWidth('日本語', 4)).toBe('日…');
    expect(cutToWidth('abc', 3)).toBe('abc');
    expect(padToWidth('日', 4, 'right')).toBe('  日');
  });
});

describe('lines', () => {
  it('are cut or wrapped', () => {
    const words = 'one two three four five six seven';
    expect(toText([cut([words])], plain(20))).toBe('one two three four …\n');
    expect(toText([flow([words], 2)], plain(20))).toBe('one two three four\n  five six seven\n');
    expect(toText([flow(['x'.repeat(30)], 2)], plain(20))).toBe(`${'x'.repeat(20)}\n  ${'x'.repeat(10)}\n`);
  });

  it('are never wider than the terminal', () => {
    const texts = [
      '日本語'.repeat(20),
      'a b '.repeat(40),
      `  ${'長い'.repeat(9)} ${'word '.repeat(20)}`,
      '\x1b[31m'.repeat(30),
    ];
    for (const width of [20, 33, 80]) {
      const rows = toText(
        texts.flatMap((text) => [cut([['strong', text]]), flow(['- ', ['quiet', text]], 4)]),
        { colour: true, width },
      ).split('\n');
      expect(Math.max(...rows.map((row) => toWidth(stripVTControlCharacters(row))))).toBeLessThanOrEqual(width);
    }
  });

  it('lose no text when they wrap', () => {
    const words = 'a bb ccc dddd eeeee ffffff ggggggg '.repeat(5).trim();
    expect(
      toText([flow([words], 3)], plain(25))
        .trim()
        .split(/\s+/)
        .join(' '),
    ).toBe(words);
  });

  it('contain only colours that Spillway sets', () => {
    const text = toText([flow([['bad', '\x1b[2Jboom'], ' and '.concat('\x1b]0;x\x07')])], { colour: true, width: 80 });
    expect(text).toBe('\x1b[1;31m\\x1b[2Jboom\x1b[0m and \\x1b]0;x\\x07\n');
    expect(toText([flow([['bad', 'boom']])], plain(80))).toBe('boom\n');
  });
});

describe('the output', () => {
  const terminal = { isTTY: true, columns: 100 };
  it.each([
    ['a terminal', terminal, {}, true],
    ['a pipe', {}, {}, false],
    ['a terminal and NO_COLOR', terminal, { NO_COLOR: '1' }, false],
    ['a terminal and an empty NO_COLOR', terminal, { NO_COLOR: '' }, true],
    ['a terminal without colours', terminal, { TERM: 'dumb' }, false],
    ['a pipe and FORCE_COLOR', {}, { FORCE_COLOR: '1' }, true],
    ['a pipe and FORCE_COLOR=0', terminal, { FORCE_COLOR: '0' }, false],
    ['both', {}, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
  ])('has the right colours for %s', (_name, sheet, env, colour) => {
    expect(toPaper(sheet, env).colour).toBe(colour);
  });

  it('is as wide as the terminal, and unlimited in a pipe', () => {
    expect(toPaper(terminal, {}).width).toBe(100);
    expect(toPaper({ columns: 80 }, {}).width).toBe(Number.POSITIVE_INFINITY);
    expect(toPaper({ isTTY: true, columns: 0 }, {}).width).toBe(Number.POSITIVE_INFINITY);
    expect(toPaper({ isTTY: true, columns: 5 }, {}).width).toBe(30);
  });
});
