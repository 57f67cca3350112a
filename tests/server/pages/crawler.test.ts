import { describe, expect, it } from 'vitest';
import { isCrawler } from '../../../src/server/pages/visitor-page.ts';

const CRAWLERS = [
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0.1938.76 Safari/537.36',
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)',
  'Twitterbot/1.0',
];

const BROWSERS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15',
];

describe('isCrawler', () => {
  it.each(CRAWLERS)('recognizes %s, also from its cache', (agent) => {
    expect([isCrawler(agent), isCrawler(agent)]).toEqual([true, true]);
  });

  it.each(BROWSERS)('takes %s for a browser, also from its cache', (agent) => {
    expect([isCrawler(agent), isCrawler(agent)]).toEqual([false, false]);
  });

  it.each([undefined, ''])('treats an empty user agent (%j) as a visitor', (agent) => {
    expect(isCrawler(agent)).toBe(false);
  });
});
