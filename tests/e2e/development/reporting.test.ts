import { expect, test } from 'vitest';
import { launchBrowser } from '../../support/browser.ts';
import { startDevApp } from '../../support/dev-app.ts';
import { startRecorder } from '../../support/report-recorder.ts';
import { exchanged } from '../site.ts';

test('a failure in the browser is reported by the SDK in development too', async () => {
  const [app, browser] = await Promise.all([startDevApp({}), launchBrowser()]);
  const recorder = await startRecorder(app.url);
  try {
    const page = await browser.newPage({ userAgent: 'Mozilla/5.0 Chrome/150.0.0.0' });
    await page.goto(recorder.url);
    await exchanged(page);
    await page.evaluate(() => void setTimeout(() => Promise.reject(new RangeError('too far'))));
    await expect.poll(() => recorder.events.length, { timeout: 20_000 }).toBe(1);
    const [event] = recorder.events;
    expect(event?.exception.values[0]).toMatchObject({ type: 'RangeError', value: 'too far' });
    // What the small envelope, which stands in for the SDK, does not have.
    expect(event?.contexts?.trace?.trace_id).toMatch(/^[0-9a-f]{32}$/);
  } finally {
    await browser.close();
    await recorder.stop();
    await app.stop();
  }
});
