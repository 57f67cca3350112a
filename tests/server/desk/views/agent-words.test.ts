import { expect, it } from 'vitest';
import { toAgentWords } from '../../../../src/server/desk/views/agent-words.ts';

const WINDOWS = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)';
const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)';
const IPHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';
const PIXEL = 'Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/AP2A; wv) AppleWebKit/537.36 (KHTML, like Gecko)';

it.each([
  ['Chrome 128 on Windows', `${WINDOWS} Chrome/128.0.0.0 Safari/537.36`],
  ['Edge 128 on Windows', `${WINDOWS} Chrome/128.0.0.0 Safari/537.36 Edg/128.0.0.0`],
  ['Firefox 130 on Linux', 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0'],
  ['Firefox 130 on Android 14', 'Mozilla/5.0 (Android 14; Mobile; rv:130.0) Gecko/130.0 Firefox/130.0'],
  ['Safari 17.4 on macOS', `${MAC} Version/17.4 Safari/605.1.15`],
  ['Safari 17.4 on iPhone (iOS 17.4)', `${IPHONE} Version/17.4.1 Mobile/15E148 Safari/604.1`],
  ['Chrome 128 on iPhone (iOS 17.4)', `${IPHONE} CriOS/128.0.6613.98 Mobile/15E148 Safari/604.1`],
  ['Safari in Instagram on iPhone (iOS 17.4)', `${IPHONE} Mobile/15E148 Instagram 342.0`],
  [
    'Android WebView 128 in Facebook on Pixel 8 (Android 14)',
    `${PIXEL} Version/4.0 Chrome/128.0.6613.88 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/478.0;]`,
  ],
  ['Internet Explorer 11 on Windows 7', 'Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; rv:11.0) like Gecko'],
  ['Googlebot 2.1, a robot', 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'],
  ['curl 8.4', 'curl/8.4.0'],
  ['an unknown browser', ''],
  ['an unknown browser', '<script>alert(1)</script>'],
  ['an unknown browser on Linux', 'Mozilla/5.0 (X11; Linux x86_64)'],
])('%s', (words, agent) => {
  expect(toAgentWords(agent)).toBe(words);
});
