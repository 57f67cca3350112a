import { describe, expect, it } from 'vitest';
import { explainReactError } from '../../../../src/shared/engine/rendering/react-errors.ts';

const say = (code: number, query = '') =>
  `Minified React error #${code}; visit https://react.dev/errors/${code}${query} for the full message or use the non-minified dev environment for full errors and additional helpful warnings.`;

describe('explainReactError', () => {
  it.each([
    ['text', 'The text that the server rendered is not what the browser rendered.'],
    ['HTML', 'The HTML that the server rendered is not what the browser rendered.'],
  ])('says what differs: %s', (what, words) => {
    expect(explainReactError(say(418, `?args[]=${what}&args[]=`))).toContain(words);
  });

  it('adds the arguments of the React message', () => {
    expect(explainReactError(say(418, '?args[]=HTML&args[]=%3Cb%3E'))).toMatch(/anew\. <b>$/);
  });

  it.each([419, 422, 423, 424, 520])('explains %i', (code) => {
    expect(explainReactError(say(code))).toMatch(/^[A-Z].*React .*\.$/);
  });

  it.each(['', 'TypeError: x', say(9999)])('does not explain %j', (message) => {
    expect(explainReactError(message)).toBeUndefined();
  });
});
