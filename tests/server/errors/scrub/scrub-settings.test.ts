import { expect, it } from 'vitest';
import { parseScrubKeys, parseScrubPatterns } from '../../../../src/server/errors/scrub/scrub-settings.ts';

it.each([
  ['', []],
  ['patient_id, Kunden-Nr.,Straße', ['patient_id', 'Kunden-Nr.', 'Straße']],
  ['a,,b', ['a', 'b']],
  ['a;b', undefined],
  ['/x/', undefined],
  ['x'.repeat(101), undefined],
])('keys: parses %j', (text, keys) => {
  expect(parseScrubKeys(text)).toEqual(keys);
});

it.each([
  ['', []],
  ['/KD-\\d{8}/i', [/KD-\d{8}/gi]],
  ['/a,b/, /c\\/d/u ,/[/,]e/', [/a,b/g, /c\/d/gu, /[/,]e/g]],
  ['KD', undefined],
  ['/(/', undefined],
  ['/a/x', undefined],
  ['/a/g', undefined],
  ['/a/ /b/', undefined],
  ['//', undefined],
  ['/a*/', undefined],
  ['/^|x/', undefined],
  [`/${'a'.repeat(501)}/`, undefined],
])('patterns: parses %j', (text, patterns) => {
  expect(parseScrubPatterns(text)).toEqual(patterns);
});

it.each(['/(a+)+$/', '/\\d+\\d+\\d+x/', '/(.*)*;/', '/\\beyJ[\\w-]+\\./'])('patterns: %s is too slow', (text) => {
  expect(parseScrubPatterns(text)).toBeUndefined();
});
