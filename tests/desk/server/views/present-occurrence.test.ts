import { expect, it } from 'vitest';
import { presentRequest } from '../../../../src/desk/server/views/present-occurrence.ts';
import { presentStory } from '../../../../src/desk/server/views/present-story.ts';
import { createFailure } from '../../support/desk.ts';

const IPHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';

it.each([
  ['Chrome 128 on Windows', 'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/128.0.0.0 Safari/537.36'],
  ['Safari 17.4 on iPhone (iOS 17.4)', `${IPHONE} Version/17.4.1 Mobile/15E148 Safari/604.1`],
  ['Firefox 130 on Android 14', 'Mozilla/5.0 (Android 14; Mobile; rv:130.0) Gecko/130.0 Firefox/130.0'],
  ['Googlebot 2.1, a robot', 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'],
  ['node, a robot', 'node'],
  ['an unknown program, a robot', '<script>alert(1)</script>'],
  ['an unknown browser', ''],
])('the user agent of a request is %s', (words, raw) => {
  const { agent } = presentRequest({ method: 'GET', url: '/', headers: { 'User-Agent': raw } });
  expect(agent).toEqual({ words, raw });
});

it('a hydration mismatch is told whatever a stranger reports of it', () => {
  const errors = [{ name: 'Error', message: 'The text differs.', frames: [], class: 'Error' }];
  const failure = createFailure({
    kind: 'hydration',
    errors,
    extra: { contexts: { react: { said: { toString: 1 } } } },
  });
  expect(presentStory(failure)).toMatchObject({ kind: 'hydration', said: 'The text differs.' });
});
