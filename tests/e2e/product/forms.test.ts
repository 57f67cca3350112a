import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { heading, hold, link, press, shows, useSite } from '../site.ts';

const site = useSite();

async function openForms({ javaScriptEnabled = true, path = '/tour/forms', isAlone = false } = {}) {
  const open = javaScriptEnabled ? site.openLive : site.open;
  const visit = await open(path, { javaScriptEnabled, isAlone });
  const { page, data } = visit;
  return {
    ...visit,
    /** Presses a button that posts a form. @returns the status of the response */
    async post(name: string): Promise<number> {
      const answered = page.waitForResponse((response) => response.request().method() === 'POST');
      await press(page, name);
      return (await answered).status();
    },
    listPosts: () => data.filter(({ method }) => method === 'POST').map(({ path }) => path),
  };
}

const fill = async (page: Page, fields: Readonly<Record<string, string>>) => {
  for (const [label, text] of Object.entries(fields)) await page.getByLabel(label).fill(text);
};
const read = (page: Page, label: string) => page.getByLabel(label).inputValue();

test.each([true, false])(
  'a form, with JavaScript: %s, shows errors next to the typed values, then its success, and empties its fields',
  async (isLive) => {
    const { page, post, documents, complaints } = await openForms({ javaScriptEnabled: isLive });
    await fill(page, { 'Your name': 'Ada', 'Your email address': 'nowhere', 'Your message': 'short' });
    expect(await post('Send')).toBe(422);
    await shows(page, 'Enter a full email address');
    await shows(page, 'Write at least ten characters.');
    expect(await read(page, 'Your name')).toBe('Ada');
    const email = page.getByLabel('Your email address');
    expect(await email.getAttribute('aria-invalid')).toBe('true');
    await expect.poll(() => email.evaluate((field) => field === document.activeElement)).toBe(true);

    await fill(page, { 'Your email address': 'ada@example.org', 'Your message': 'The water is rising.' });
    const release = await hold(page, '**/tour/forms');
    const sent = press(page, 'Send'); // without JavaScript, it ends when the next document arrives
    if (isLive) expect(await page.getByRole('button', { name: 'Sending…' }).isDisabled()).toBe(true);
    release();
    await sent;
    await page
      .locator('#contact')
      .getByText(/^Thank you\. Sent at \d\d:\d\d:\d\d\sUTC\./)
      .waitFor();
    await expect.poll(() => read(page, 'Your name')).toBe('');
    expect(documents).toHaveLength(isLive ? 1 : 3);
    expect(complaints.filter((line) => !line.includes('422'))).toEqual([]);
  },
);

test('the progress of an upload is shown', async () => {
  const { page, documents, complaints } = await openForms({ isAlone: true });
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', {
    ...{ offline: false, latency: 0, downloadThroughput: -1 },
    uploadThroughput: 1e6, // two seconds, of which a busy machine sees a few moments
  });
  await page.evaluate(() => {
    const seen: number[] = [];
    Object.assign(window, { seen });
    new MutationObserver(() => {
      const bar = document.querySelector('progress');
      if (bar && bar.position >= 0) seen.push(bar.position);
    }).observe(document.body, { subtree: true, childList: true, attributes: true });
  });
  await page
    .getByLabel('A file under 64 MB')
    .setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.alloc(2e6, 'x') });
  await press(page, 'Upload');
  await shows(page, 'a.txt: 2000000 bytes, text/plain');
  const seen = await page.evaluate(() => (window as unknown as { seen: number[] }).seen);
  expect(seen.filter((value) => value > 0 && value < 1).length).toBeGreaterThan(2);
  expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  expect(await page.locator('progress').count()).toBe(0);
  expect([documents, complaints]).toEqual([['/tour/forms'], []]);
});

test('a form discards earlier prefetches', async () => {
  const { page, data } = await openForms();
  const cards = link(page, 'Cards');
  const listRequests = () => data.filter(({ path }) => path === '/_data/tour/cards');
  await cards.hover();
  await expect.poll(listRequests).toHaveLength(1);
  await press(page, 'Send');
  await shows(page, 'Enter a full email address');
  await cards.evaluate((anchor: HTMLElement) => anchor.click());
  await heading(page, 'Cards');
  expect(listRequests()).toHaveLength(2);
});
