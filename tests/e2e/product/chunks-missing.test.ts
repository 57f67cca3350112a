import { expect, test } from 'vitest';
import { hydrated, useSite } from '../site.ts';

const site = useSite();

test('a form whose button names the action is posted with its button if the router cannot be loaded', async () => {
  const { page } = await site.open('/tour/forms', {
    before: (page) => page.route('**/assets/navigator-*.js', (route) => route.abort()),
  });
  await hydrated(page);
  await page.evaluate(() => {
    const hidden = document.querySelector<HTMLInputElement>('main form input[name="_action"]');
    const button = hidden?.form?.querySelector<HTMLButtonElement>('button[type="submit"]');
    if (!hidden || !button) throw new Error('There is no form with an action.');
    button.name = hidden.name;
    button.value = hidden.value;
    hidden.remove();
    button.id = 'named';
  });
  const posted = page.waitForRequest(
    // The missing chunk is reported by a separate POST.
    (request) => request.method() === 'POST' && !request.url().endsWith('/_report'),
  );
  await page.locator('#named').click();
  expect((await posted).postData()).toContain('_action=forms.');
  expect((await (await posted).response())?.status()).not.toBe(405);
});
