import { expect, it } from 'vitest';
import { cutAtWord } from '../../../../src/server/engine/errors/cut-at-word.ts';

it.each([
  ['one two', 7, 'one two'],
  ['one two', 6, 'one '],
  ['one two', 3, ''],
  ['one\ntwo', 5, 'one\n'],
  ['xxxxxxxxxx', 8, 'xxxx'],
])('cuts %j at %d at the end of a word, unless the word is too long', (text, length, cut) => {
  expect(cutAtWord(text, length, 4)).toBe(cut);
});
