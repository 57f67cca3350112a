import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useOwnedSite } from './owned-site.ts';
import { exchanged, heading, hold, hydrated, link, press, shows } from './site.ts';

const visit = useOwnedSite();

async function open(path: string) {
  const opened = await visit(path);
  await exchanged(opened.page);
  return opened;
}

/** The label of the focused element, or its tag name. */
function focused(page: Page): Promise<string | undefined> {
  return page.evaluate(() => document.activeElement?.ariaLabel ?? document.activeElement?.localName);
}

function fieldsOf(page: Page, label: string) {
  const form = page.getByRole('form', { name: label });
  return {
    title: form.getByLabel('Title'),
    text: form.getByLabel('Text'),
    add: form.getByRole('button', { name: 'Add' }),
  };
}

test('a search in the layout that navigates to another page keeps the focus and further input', async () => {
  const { page, documents } = await open('/');
  await page.getByLabel('Find').press('a');
  await shows(page, 'Looked for a.');
  expect(await focused(page)).toBe('Find');
  await page.keyboard.type('da');
  await shows(page, 'Looked for ada.');
  expect(documents).toEqual(['/']);
});

test('a focused field keeps the focus on Back, and a link moves it to the page', async () => {
  const { page } = await open('/');
  await link(page, 'Notes').click();
  await heading(page, 'Notes');
  expect(await focused(page)).toBe('main');
  await page.getByLabel('Scratch').focus();
  await page.goBack();
  await heading(page, 'Home');
  expect(await focused(page)).toBe('Scratch');
});

test('a link and a form whose handlers stop the event need no document', async () => {
  const { page, documents } = await open('/find');
  await page.getByLabel('Find here').fill('grebe');
  await page.getByLabel('Find here').press('Enter');
  await shows(page, 'Looked for grebe.');
  await link(page, 'Stopped').click();
  await heading(page, 'List');
  expect(documents).toEqual(['/find']);
});

test('a control that handles the click does not follow the link around it', async () => {
  const { page, documents } = await open('/find');
  await page.getByText('Watched').click();
  await page.getByRole('button', { name: 'Note a teal' }).click();
  await shows(page, 'Noted teal.');
  expect(await page.getByLabel('Watched').isChecked()).toBe(true);
  await page.getByRole('button', { name: 'Open the list' }).click();
  await heading(page, 'List');
  expect(documents).toEqual(['/find']);
});

test("a form whose action is a function is React's", async () => {
  const { page, complaints } = await open('/find');
  await page.getByLabel('Note').fill('heron');
  await page.getByLabel('Note').press('Enter');
  await shows(page, 'Noted heron.');
  expect(complaints).toEqual([]);
});

test('a page that sets the focus itself keeps it, and a link from there moves it', async () => {
  const { page } = await open('/');
  await link(page, 'Chart').click();
  await heading(page, 'Chart');
  expect(await focused(page)).toBe('Year');
  await link(page, 'Notes').click();
  await heading(page, 'Notes');
  expect(await focused(page)).toBe('main');
});

test('a rejected form moves the focus to its first invalid field, unless it has moved elsewhere', async () => {
  const { page } = await open('/notes');
  const { title, add } = fieldsOf(page, 'Emptied');
  await title.fill('Ferry');
  await add.click();
  await shows(page, 'Give a text.');
  await expect.poll(() => focused(page)).toBe('Text');
  const release = await hold(page, '**/notes');
  const posted = page.waitForRequest((request) => request.method() === 'POST');
  await title.fill('');
  await add.click();
  await posted;
  await page.getByLabel('Scratch').focus();
  release();
  await shows(page, 'Give a title. Give a text.');
  expect(await focused(page)).toBe('Scratch');
});

test.each(['Stays', 'Moved'])('a form with reset is emptied on success, also after a rejection: %s', async (name) => {
  const { page, documents, data, complaints } = await open('/notes');
  const { title, text, add } = fieldsOf(page, 'Emptied');
  await title.fill(name);
  await add.click();
  await shows(page, 'Give a text.');
  expect(await title.inputValue()).toBe(name);
  await text.fill('At noon');
  await add.click();
  await shows(page, `${name}: At noon`);
  await expect.poll(() => title.inputValue()).toBe('');
  expect(await text.inputValue()).toBe('');
  expect(documents).toEqual(['/notes']);
  // The response to the form has the fresh data of the page.
  expect(data.map(({ method }) => method)).toEqual(name === 'Stays' ? ['POST', 'POST'] : ['POST', 'POST', 'GET']);
  expect(complaints.filter((line) => !line.includes('status of 422'))).toEqual([]);
});

test('a form without reset keeps its values', async () => {
  const { page } = await open('/notes');
  const { title, text, add } = fieldsOf(page, 'Kept');
  await title.fill('Kept');
  await text.fill('At one');
  await add.click();
  await shows(page, 'Kept: At one');
  expect([await title.inputValue(), await text.inputValue()]).toEqual(['Kept', 'At one']);
});

/** Types into the draft and leaves the page, which must ask for confirmation once. */
async function leaveDraft(page: Page): Promise<void> {
  await page.getByLabel('Text').fill('A letter');
  await link(page, 'List').click();
  await press(page, 'Leave it');
  await heading(page, 'List');
}

test('useBlocker asks once, and ends with its page, also if the router was loaded after the page', async () => {
  const router = Promise.withResolvers<void>();
  const { page, complaints, documents } = await visit('/draft', {
    before: (page) =>
      page.route(/\/assets\/navigator-[^/]+\.js$/, async (route) => {
        await router.promise;
        await route.continue();
      }),
  });
  await hydrated(page);
  await page.getByLabel('Text').fill('A');
  router.resolve();
  await exchanged(page);
  await leaveDraft(page);
  await link(page, 'Draft').click();
  await heading(page, 'Draft');
  await leaveDraft(page);
  expect(documents).toEqual(['/draft']);
  expect(complaints).toEqual([]);
});

test.each(['/notes', '/kept'])('a failing action of a layout keeps the layout: %s', async (path) => {
  const { page } = await open(path);
  await press(page, 'Ring');
  await page.locator('main').getByRole('heading', { name: 'failure' }).waitFor();
  expect(await page.getByRole('search').isVisible()).toBe(true);
  expect(await page.getByRole('button', { name: 'Ring' }).isVisible()).toBe(true);
});

test.each([
  ['a component', 'Gone', '/gone'],
  ['a value that a component waits for', 'Gone later', '/gone?later'],
])('a redirect of %s leads to its page, in a document and in the browser', async (_what, name, path) => {
  const { page, documents, failures } = await open('/list');
  await link(page, name).click();
  await heading(page, 'Draft');
  expect(documents).toEqual(['/list']);
  await page.goto(path);
  await heading(page, 'Draft');
  expect(await failures()).toEqual([]);
});

test('an error page that fails in the browser leaves a line with the digest', async () => {
  const { page } = await open('/list');
  await press(page, 'Break');
  await page
    .getByRole('alert')
    .getByText(/This could not be loaded\. Digest: \w{6}/)
    .waitFor();
});

test('the state of a history entry is shown again after a reload, although the server does not know it', async () => {
  const { page, complaints } = await open('/list');
  await press(page, 'Write');
  await shows(page, 'From the list.');
  await page.reload();
  await exchanged(page);
  await shows(page, 'From the list.');
  expect(complaints).toEqual([]);
});

// The section on `Await` and React's Suspense in the guide's chapter on deferred data.

/** Lets the held values arrive. */
const release = (page: Page) => page.request.get('/release');

const read = async (page: Page, selector: string) => (await page.locator(selector).innerText()).split(/\n+/);

test.each([
  ['keeps it until the next one arrives, and delays the whole update', 'Turin'],
  ['shows its fallback immediately if its key changes', 'Turin, by key'],
])('an Await that already shows a value %s', async (_what, name) => {
  const { page, complaints } = await open('/city');
  await link(page, name).click();
  const readPage = async () => [await read(page, 'h1'), await read(page, '#state'), await read(page, '#place')].flat();
  if (name === 'Turin') {
    await page.locator('#state').getByText('loading').waitFor();
    await page.waitForTimeout(500);
    expect(await readPage()).toEqual(['Oslo', 'loading', 'Rain in Oslo']);
  } else {
    await shows(page, 'Asking…');
    expect(await readPage()).toEqual(['Turin', 'idle', 'Asking…']);
  }
  await release(page);
  await shows(page, 'Sun in Turin');
  expect(await readPage()).toEqual(['Turin', 'idle', 'Sun in Turin']);
  expect(complaints).toEqual([]);
});

test('an Await shows the next value after one that could not be rendered, and follows a redirect to another site', async () => {
  const { page } = await open('/city');
  await link(page, 'Hull').click();
  await page.locator('#place').getByText('This could not be loaded.').waitFor();
  await link(page, 'Oslo').click();
  await page.locator('#place').getByText('Rain in Oslo').waitFor();
  await link(page, 'Elsewhere').click();
  await page.waitForURL('http://localhost:*/livez');
});

test('a place keeps its fallback until its value arrives, also when the router is there before', async () => {
  const { page, complaints } = await visit('/');
  await page.goto('/city?name=Turin', { waitUntil: 'commit' });
  const fallback = await page.getByText('Asking…').elementHandle();
  await page.waitForFunction(() => history.scrollRestoration === 'manual', undefined, { polling: 50 }); // the router is there
  await page.waitForTimeout(500);
  expect(await fallback?.evaluate((element) => element.isConnected)).toBe(true);
  await release(page);
  await shows(page, 'Sun in Turin');
  await exchanged(page);
  expect(complaints).toEqual([]);
});

test('use() inside a Suspense shows the value, and a rejection replaces the page with its ErrorBoundary', async () => {
  const { page, complaints } = await visit('/plain');
  await page.locator('main').getByText('There').waitFor();
  expect(complaints).toEqual([]);
  await page.goto('/plain?fail');
  await heading(page, 'The whole page failed');
});

test('a navigation changes the language of the document, and Spillway speaks it', async () => {
  const { page } = await open('/');
  const language = () => page.evaluate(() => `${document.documentElement.lang} ${document.dir || 'ltr'}`);
  expect(await language()).toBe('nb ltr');
  await link(page, 'Notes').click();
  await heading(page, 'Notes');
  expect(await language()).toBe('ar rtl');
  await page.route('**/*', (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()));
  const { title, add } = fieldsOf(page, 'Kept');
  await title.fill('Ferry');
  await add.click();
  await shows(page, 'لم يرسل النموذج. What you typed is still here.');
  expect(await title.inputValue()).toBe('Ferry');
  await page.goBack();
  await expect.poll(language).toBe('nb ltr');
});

test.each(['/notes', '/kept', '/nowhere'])('a page that a step refuses shows what the step says: %s', async (path) => {
  const { page, complaints } = await open(`${path}?step=refuses`);
  await shows(page, 'Closed until Monday.');
  expect(complaints.filter((text) => !text.includes('503'))).toEqual([]);
  await link(page, 'Notes').click();
  await heading(page, 'Notes');
});
