import { describe, expect, it } from 'vitest';
import { explainReactError } from '../../../src/shared/rendering/react-errors.ts';

const say = (code: number, query = '') =>
  `Minified React error #${code}; visit https://react.dev/errors/${code}${query} for the full message or use the non-minified dev environment for full errors and additional helpful warnings.`;

describe('explainReactError', () => {
  it.each([
    ['text', 'The text rendered by the server does not match the browser.'],
    ['HTML', 'The HTML rendered by the server does not match the browser.'],
  ])('says what differs: %s', (what, words) => {
    expect(explainReactError(say(418, `?args[]=${what}&args[]=`))).toContain(words);
  });

  it.each([419, 422, 423, 424, 520])('explains %i', (code) => {
    expect(explainReactError(say(code))).toMatch(/^[A-Z].*React .*\.$/);
  });

  it.each(['', 'TypeError: x', say(9999)])('does not explain %j', (message) => {
    expect(explainReactError(message)).toBeUndefined();
  });
});
