import type { Page, Request } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { OTHER } from './own-forms-page.ts';
import { useOwnedSite } from './owned-site.ts';
import { exchanged, heading, hold, hydrated, link, press, shows } from './site.ts';

const visit = useOwnedSite();

/** Opens the page. `elsewhere` has the requests that the other site got: \`POST /x text=typed\`. */
async function open({ path = '/forms', isAlone = false } = {}) {
  const elsewhere: string[] = [];
  const opened = await visit(path, {
    isAlone,
    before: (page) =>
      page.route(`${OTHER}/**`, (route) => {
        const request = route.request();
        elsewhere.push([request.method(), toPath(request), request.postData()].filter(Boolean).join(' '));
        return route.fulfill({ status: 204 }); // so that the page stays
      }),
  });
  await exchanged(opened.page);
  const press = (name: string) => opened.page.getByRole('button', { name, exact: true }).click();
  return { ...opened, elsewhere, press };
}

const toPath = (request: Request) => request.url().slice(new URL(request.url()).origin.length);
const state = (page: Page) => page.locator('#state').textContent();
const result = async (page: Page) => JSON.parse((await page.locator('#result').textContent()) ?? '');
/** Waits until the page shows this result of an action. */
const showsResult = (page: Page, expected: unknown) => expect.poll(() => result(page)).toEqual(expected);

test('a form of another site goes there', async () => {
  const { press, elsewhere, data } = await open();
  for (const [name, expected] of Object.entries({
    'Post elsewhere': 'POST /post _action=forms.save&text=typed',
    'Search elsewhere': 'GET /get?text=typed',
    'Post elsewhere by its button': 'POST /button _action=forms.save&text=typed',
    'Post elsewhere in place of a fetcher': 'POST /fetcher text=typed',
  })) {
    await press(name);
    await expect.poll(() => elsewhere).toEqual([expected]);
    elsewhere.length = 0;
  }
  expect(data).toEqual([]);
});

test('a button of a dialog closes it, and nothing is sent', async () => {
  const { page, press, documents, data } = await open();
  for (const [id, name] of Object.entries({ button: 'Cancel', fetcher: 'Cancel the fetcher', form: 'Close' })) {
    await press(name);
    await page.locator(`#${id}`).waitFor({ state: 'hidden' });
  }
  expect(page.url()).not.toContain('secret');
  expect([documents, data]).toEqual([['/forms'], []]);
});

test('forms, links and redirects keep the fragment of the URL', async () => {
  const { page } = await open();
  for (const [role, name, url] of [
    ['button', 'Save at a hash', '/forms?a=1#state'],
    ['button', 'Search at a hash', '/forms?text=typed#state'],
    ['link', 'A slash too many', '/forms?x=1#state'],
    ['button', 'Search at a hash', '/forms?text=typed#state'],
    ['link', 'Moved', '/forms?x=1#state'],
  ] as const) {
    await page.getByRole(role, { name, exact: true }).click();
    await page.waitForURL(`**${url}`);
  }
});

test('the lines of a text end with CRLF, whatever the method and the encoding', async () => {
  const { page, press } = await open();
  const text = page.getByRole('form', { name: 'lines' }).locator('textarea');
  for (const name of ['Save lines', 'Save lines in parts']) {
    await text.fill(`${name}\nin two`);
    await press(name);
    await showsResult(page, [['text', `${name}\r\nin two`]]);
  }
  await text.fill('1\n2');
  await press('Search lines');
  await page.waitForURL('**/forms?*text=1%0D%0A2');
});

test('a double click sends a form once, and another text is sent', async () => {
  const { page } = await open();
  const posts: (string | null)[] = [];
  page.on('request', (request) => request.method() === 'POST' && posts.push(request.postData()));
  const release = await hold(page, '**/forms');
  const text = page.getByRole('form', { name: 'lines' }).locator('textarea');
  const save = page.getByRole('button', { name: 'Save lines', exact: true });
  await text.fill('1');
  await save.dblclick();
  await text.fill('2');
  await save.click();
  const read = (post: string | null) => new URLSearchParams(post ?? '').get('text');
  await expect.poll(() => posts.map(read)).toEqual(['1', '2']);
  release();
  await showsResult(page, [['text', '2']]);
  expect(posts.map(read)).toEqual(['1', '2']);
});

const focused = (page: Page) => page.evaluate(() => document.activeElement?.tagName);

test('a button that is disabled while its form is sent keeps the focus', async () => {
  const { page } = await open();
  const release = await hold(page, '**/forms');
  const save = page.getByRole('button', { name: 'Save and wait', exact: true });
  await save.focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => focused(page)).toBe('BODY');
  release();
  await showsResult(page, []);
  expect(await save.evaluate((button) => button === document.activeElement)).toBe(true);
});

test('an answer that takes the place of its form gets the focus, and its title is announced', async () => {
  const { page, press } = await open();
  await press('Finish');
  await expect.poll(() => page.locator('#spillway-announcer').textContent()).toBe('Finished');
  expect(await focused(page)).toBe('MAIN');
});

test('a form that is posted to another app of this site goes there', async () => {
  const { page, press, documents } = await open();
  await press('Save in another app');
  await shows(page, 'POST /legacy');
  expect(documents).toEqual(['/forms', '/legacy']);
});

/** What `fillOld` types, except secrets. */
const TYPED = {
  text: 'my text',
  lines: '1\n2',
  choice: '2',
  many: ['2', '3'],
  boxes: [false, true],
  state: 'my state',
};

/** Fills the form of an action that the server does not have. */
async function fillOld(page: Page) {
  const field = (name: string) => page.getByRole('form', { name: 'old' }).locator(`[name=${name}]`);
  for (const name of ['text', 'state', 'pin', 'card']) await field(name).fill(`my ${name}`);
  await field('lines').fill('1\n2');
  await field('choice').selectOption('2');
  await field('many').selectOption(['2', '3']);
  await field('box').last().check();
  return async () => ({
    text: await field('text').inputValue(),
    lines: await field('lines').inputValue(),
    choice: await field('choice').inputValue(),
    many: await field('many').evaluate((select: HTMLSelectElement) =>
      [...select.selectedOptions].map(({ value }) => value),
    ),
    boxes: [await field('box').first().isChecked(), await field('box').last().isChecked()],
    state: await page.locator('#typed').textContent(),
    secrets: [await field('pin').inputValue(), await field('card').inputValue()],
  });
}

test.each([
  ['a guard has redirected the form', 'Save after the session ended'],
  ['it has failed', 'Save while the server fails'],
])('what was typed is there again when the visitor returns after %s', async (_what, name) => {
  const { page, press } = await open();
  const read = await fillOld(page);
  await press(name);
  await page.locator('#typed').waitFor({ state: 'detached' });
  await link(page, 'Notes').click();
  await page.waitForURL('**/notes');
  // Back shows the failed page from memory, and loads it again.
  const again = name.includes('fails') && page.waitForResponse('**/_data/forms?broken');
  await page.goBack();
  await page.waitForURL('**/forms*');
  if (new URL(page.url()).search !== '') {
    await again;
    await page.goBack();
  }
  await expect.poll(read).toEqual({ ...TYPED, secrets: ['', ''] });
  expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain('my ');
});

test('what was typed is still there after the reload that a form of another build needs', async () => {
  const { page, press } = await open();
  const read = await fillOld(page);
  await page.route('**/forms', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replace(/"build":"\w+"/, '"build":"next"') });
  });
  await press('Save the old way');
  await expect.poll(() => result(page)).toMatch(/Reload the page.* What you typed is kept/);
  expect(await read()).toEqual({ ...TYPED, secrets: ['my pin', 'my card'] });
  await page.unrouteAll();
  await page.reload();
  await expect.poll(read).toEqual({ ...TYPED, secrets: ['', ''] });
  expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain('my ');
  await page.reload();
  await exchanged(page);
  expect(await read()).toMatchObject({ text: '', state: '' });
});

/** Lets the server answer as another build, except for documents. */
async function deploy(page: Page) {
  await page.route(/\/(?:_data\/)?(?:forms|items\/\d|list)$/, async (route) => {
    if (route.request().isNavigationRequest()) return route.fallback();
    const response = await route.fetch();
    const headers = { ...response.headers(), 'x-build-id': 'next' };
    const body = (await response.text()).replace(/"build":"\w+"/, '"build":"next"');
    await route.fulfill({ response, headers, body });
  });
}

test.each([
  ['a form that was accepted is reset, with its result', 'Save and reset', 'typed', [['text', 'mine']]],
  ['useRefresh() keeps what was typed', 'Refresh', 'mine', null],
])('after a deploy, the document is loaded, and %s', async (_what, name, expected, returned) => {
  const { page, press, documents } = await open();
  await deploy(page);
  const text = page.getByRole('form', { name: 'reset' }).locator('[name=text]');
  await text.fill('mine');
  await press(name);
  await expect.poll(() => documents).toEqual(['/forms', '/forms']);
  await exchanged(page);
  await expect.poll(() => text.inputValue()).toBe(expected);
  await showsResult(page, returned);
});

test('after a deploy, useRefresh() without a reload keeps the page, and says so', async () => {
  const { page, press, documents } = await open();
  const state = page.getByRole('form', { name: 'old' }).locator('[name=state]');
  await press('Refresh and stay');
  await expect.poll(() => state.inputValue()).toBe('true');
  await deploy(page);
  await press('Refresh and stay');
  await expect.poll(() => state.inputValue()).toBe('false');
  expect(documents).toEqual(['/forms']);
});

test('a form for this tab is posted in the background, and one whose URL cannot be parsed is left to the browser', async () => {
  const { page, press, documents, data, complaints } = await open();
  for (const name of ['Save into this tab', 'Save into this tab by its button']) {
    const answered = page.waitForResponse((response) => response.request().method() === 'POST');
    await press(name);
    expect((await answered).status()).toBe(200);
    await showsResult(page, [['text', 'typed']]);
  }
  await press('Post nowhere');
  expect([documents, data.length, complaints]).toEqual([['/forms'], 2, []]);
});

test('the names of fields do not matter, also for a reset', async () => {
  const path = '/forms?clobbered';
  const { page, documents, complaints } = await open({ path });
  // By script, because Playwright reads properties of forms.
  await page.evaluate(() => {
    const button = document.querySelector<HTMLElement>('.clobbered');
    button?.parentElement?.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    document.querySelector<HTMLInputElement>('[name=target]')?.setRangeText('typed');
    button?.click();
  });
  await expect.poll(() => result(page)).toContainEqual(['target', 'typed']);
  await expect
    .poll(() => page.evaluate(() => document.querySelector<HTMLInputElement>('[name=target]')?.value))
    .toBe('');
  expect([documents, complaints]).toEqual([[path], []]);
});

const fileOf = (bytes: number) => ({ name: 'a.bin', mimeType: 'a/b', buffer: Buffer.alloc(bytes) });

test('a button after the file names an action, which has its own limit', async () => {
  const { page, press } = await open();
  await page.getByLabel('File').setInputFiles(fileOf(1.2e6));
  await press('Attach');
  await showsResult(page, [
    ['_action', 'forms.save'],
    ['_action', 'forms.attach'],
    ['file', 1.2e6],
  ]);
  await page.getByLabel('Attachment').setInputFiles(fileOf(1.2e6));
  await press('Attach by a fetcher');
  await page.locator('#attached').getByText('[["_action","forms.attach"],["file",1200000]]').waitFor();
});

test('a file that is too large is not sent, and its message is gone while the next one is sent', async () => {
  const { page, press, data } = await open();
  const file = page.getByLabel('File');
  await file.setInputFiles(fileOf(6e6));
  await press('Attach');
  await showsResult(page, 'This is more than 5 MB. Choose smaller files, or shorten the text.');
  expect(data).toEqual([]);
  expect(await file.evaluate((input: HTMLInputElement) => input.files?.length)).toBe(1);
  const release = await hold(page, '**/forms');
  await file.setInputFiles(fileOf(3000));
  await press('Attach');
  await expect.poll(async () => [await state(page), await result(page)]).toEqual(['submitting idle', null]);
  release();
  await expect.poll(() => result(page)).toContainEqual(['file', 3000]);
});

test.each([
  ['the browser is offline', ['Notes', 'Download'], (page: Page) => page.context().setOffline(true)],
  ['the server cannot be reached', ['Notes'], (page: Page) => page.route('**/*', (route) => route.abort())],
] as const)('a page stays if the next one cannot be loaded, and says so: %s', async (_why, names, cut) => {
  const { page, press, documents } = await open({ isAlone: true });
  const text = page.getByRole('form', { name: 'lines' }).locator('textarea');
  await text.fill('mine');
  const message = page.getByText('The page could not be loaded. Check your connection, then try again.');
  await cut(page);
  for (const name of names) {
    await link(page, name).click();
    await message.waitFor();
    expect((await message.boundingBox())?.height).toBeGreaterThan(20);
    await expect.poll(() => state(page)).toBe('idle idle');
    expect([new URL(page.url()).pathname, await text.inputValue(), documents]).toEqual(['/forms', 'mine', ['/forms']]);
  }
  const last = page.getByRole('button').last();
  await last.focus();
  const [button, bar] = [await last.boundingBox(), await message.boundingBox()];
  expect((button?.y ?? 0) + (button?.height ?? 0)).toBeLessThanOrEqual(bar?.y ?? 0);
  await page.context().setOffline(false);
  await page.unrouteAll();
  await press('Save into this tab');
  await message.waitFor({ state: 'detached' });
  await showsResult(page, [['text', 'typed']]);
  await link(page, 'Notes').click();
  await heading(page, 'Notes');
});

describe('a navigation that leaves the page', () => {
  // Alone, because these tests stop the clock of their profile.
  /** Otherwise a slow machine can reach the deadline before `wait()` looks. */
  async function stopClock(page: Page): Promise<void> {
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 10_000);
  }

  /** Shows that the page waits, and still does 4 s later. */
  async function wait(page: Page, expected: string): Promise<void> {
    await expect.poll(() => state(page)).toBe(expected);
    await page.clock.runFor(4000);
    expect(await state(page)).toBe(expected);
  }

  test.each([
    ['an action redirects to another site', 'button', 'Leave', 'submitting idle'],
    ['a fetcher redirects to another site', 'button', 'Leave by a fetcher', 'idle submitting'],
    ['a link leads to a download', 'link', 'Download', 'loading idle'],
  ] as const)('ends if no document replaces the page: %s', async (_case, role, name, expected) => {
    const { page, elsewhere, complaints } = await open({ isAlone: true });
    await page.route('**/file.csv', (route) =>
      route.fulfill({ headers: { 'Content-Disposition': 'attachment' }, body: '1,2' }),
    );
    await stopClock(page);
    await page.getByRole(role, { name, exact: true }).click();
    await wait(page, expected);
    await page.clock.runFor(2000);
    await page.clock.resume();
    await expect.poll(() => state(page)).toBe('idle idle');
    expect(elsewhere).toEqual(name.startsWith('Leave') ? ['GET /left'] : []);
    // The page works as before.
    await press(page, 'Save into this tab');
    await showsResult(page, [['text', 'typed']]);
    expect(complaints).toEqual([]);
  });

  test('ends when Back shows the page as it was left', async () => {
    const { page, press } = await open({ isAlone: true });
    await stopClock(page);
    await press('Leave');
    await wait(page, 'submitting idle');
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
    await expect.poll(() => state(page)).toBe('idle idle');
  });
});

test('a step that redirects a form or a navigation leads there, and what was typed is kept', async () => {
  const { page, press, complaints } = await open();
  const read = await fillOld(page);
  await press('Be redirected by a step');
  await page.waitForURL('**/notes?signed-out');
  await hydrated(page);
  await page.goBack();
  await expect.poll(read).toMatchObject(TYPED);
  await link(page, 'A link that a step redirects').click();
  await page.waitForURL('**/notes?signed-out');
  expect(complaints).toEqual([]);
});

test('an answer of a step says what the step says, and one of a proxy is explained and is no failure of the site', async () => {
  const { page, press } = await open();
  await press('Be refused by a step');
  await showsResult(page, 'Closed until Monday. What you typed is still here.');
  await press('Be failed by a step');
  await expect
    .poll(() => result(page))
    .toMatch(/^Something went wrong on our side \(digest \w{8}-\w{8}\)\. What you typed is still here\.$/);
  for (const [status, expected] of [
    [413, 'This is more than the site accepts. Choose smaller files, or shorten the text.'],
    [502, 'The site is not available at the moment. Try again in a few minutes.'],
  ] as const) {
    await page.route('**/forms*', (route) =>
      route.fulfill({ status, contentType: 'text/html', body: '<h1>nginx</h1>' }),
    );
    await press('Upload');
    await showsResult(page, expected); // the form has only a file
  }
  // Reports are sent in order, so nothing else was reported before this one.
  const report = page.waitForRequest((request) => toPath(request).startsWith('/_report'));
  await page.evaluate(() => reportError(new Error('The first report.')));
  expect((await report).postData()).toContain('The first report.');
});

describe('an edit form', () => {
  const openItem = (id: number) => open({ path: `/items/${id}` });
  const price = (page: Page) => page.getByLabel('Price').inputValue();
  const removed = (page: Page) => page.locator('#removed').textContent();

  /** Saves a price as another visitor. */
  async function save(page: Page, id: number, amount: string): Promise<void> {
    const form = { _action: 'item.save', price: amount };
    expect((await page.request.post(`/items/${id}`, { form, maxRedirects: 0 })).status()).toBe(303);
  }

  test('shows its own record when Back needs the document', async () => {
    const { page, press, documents } = await openItem(1);
    await link(page, 'Item 2').click();
    await heading(page, 'Item 2');
    await page.getByLabel('Price').fill('222');
    await press('Remove'); // after it, Back does not use the memory
    await expect.poll(() => removed(page)).toBe('2');
    await page.route('**/_data/items/1', (route) => route.abort());
    await page.goBack();
    await expect.poll(() => documents).toEqual(['/items/1', '/items/1']);
    await expect.poll(() => price(page)).toBe('100');
  });

  test('posts to the record that is shown, also while the next one loads', async () => {
    const { page, press } = await openItem(2);
    await link(page, 'Slow item').click();
    await page.waitForURL('**/items/slow');
    await link(page, 'Next page').click();
    await page.waitForURL('**/items/2?page=2');
    await link(page, 'Slow item').click();
    await page.waitForURL('**/items/slow');
    await press('Remove');
    await expect.poll(() => removed(page)).toBe('2');
    await page.goto('/release');
  });

  test('shows newer values than the visitor has seen, after the document was loaded for a deploy', async () => {
    const { page, press, documents } = await openItem(3);
    await save(page, 3, '999');
    await deploy(page);
    await press('Refresh');
    await expect.poll(() => documents).toEqual(['/items/3', '/items/3']);
    await expect.poll(() => price(page)).toBe('999');
  });

  test('that another build refused and then accepted is not restored later', async () => {
    const { page, press, documents } = await openItem(4);
    await deploy(page);
    await page.getByLabel('Price').fill('cheap');
    await press('Save');
    await shows(page, 'Give a number.');
    await page.getByLabel('Price').fill('555');
    await press('Save');
    await heading(page, 'List');
    expect(documents).toEqual(['/items/4', '/list']);
    await save(page, 4, '777');
    await page.goto('/items/4');
    await exchanged(page);
    expect(await price(page)).toBe('777');
  });

  test('shows what an action returned to a fetcher, also after a deploy', async () => {
    const { page, press, documents } = await openItem(8);
    await deploy(page);
    await press('Remove by a fetcher');
    await expect.poll(() => documents).toEqual(['/items/8', '/items/8']);
    await expect.poll(() => removed(page)).toBe('8');
  });

  test('is answered before deferred values of its page are there, whose last ones stay until then', async () => {
    const { page, press } = await open({ path: '/items/later' });
    await page.getByLabel('Price').fill('cheap');
    await press('Save');
    await shows(page, 'Give a number.');
    await shows(page, '3 sold');
    await page.request.get('/release');
    await shows(page, '4 sold');
  });

  test('is hydrated also if its chunk arrives late', async () => {
    const release = Promise.withResolvers<void>();
    const { page } = await visit('/items/6', {
      waitUntil: 'commit',
      async before(page) {
        await page.clock.install();
        await page.route('**/assets/item-*', (route) => release.promise.then(() => route.continue()));
      },
    });
    await heading(page, 'Item 6');
    await page.clock.runFor(10_000);
    release.resolve();
    await shows(page, 'Hydrated');
  });
});
