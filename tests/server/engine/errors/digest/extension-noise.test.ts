import { expect, it } from 'vitest';
import { isExtensionNoise } from '../../../../../src/server/engine/errors/digest/extension-noise.ts';
import { parseStack } from '../../../../../src/server/engine/errors/digest/parse-stack.ts';

function isNoise(...lines: string[]): boolean {
  const frames = parseStack(`Error: x\n${lines.map((line) => `    at f (${line})`).join('\n')}`, { dist: '/app/dist' });
  return isExtensionNoise([{ class: 'Error', message: 'x', frames }]);
}

it('is what an extension threw, even where it was called by the site', () => {
  expect(isNoise('chrome-extension://abc/content.js:1:1', 'https://shop.example/assets/main.js:1:1')).toBe(true);
  expect(isNoise('<anonymous>', 'moz-extension://abc/content.js:1:1')).toBe(true);
});

it('is not what the site threw, even where an extension called it', () => {
  expect(isNoise('https://shop.example/assets/main.js:1:1', 'chrome-extension://abc/content.js:1:1')).toBe(false);
  expect(isExtensionNoise([])).toBe(false);
});
