import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useOwnedSite } from './owned-site.ts';
import { exchanged, heading, hydrated } from './site.ts';

const visit = useOwnedSite({
  'src/shared/product/document.tsx': `
    export function Document({ lang, dir, head, children }) {
      return <html lang={lang} dir={dir}><head><meta charSet="utf-8" />{head}</head><body>{children}</body></html>;
    }
    const UNSENT = 'The form was not sent. Check your connection, then send it again.';
    Document.language = (path) =>
      path === '/notes' ? { lang: 'ar', dir: 'rtl', texts: { [UNSENT]: 'لم يرسل النموذج.' } } : { lang: 'nb' };`,
  'src/shared/product/routes.tsx': `
    import { defineRoutes } from '#engine';
    export const routes = defineRoutes([
      {
        id: 'root',
        page: () => import('./pages/root.tsx'),
        children: [
          { id: 'home', path: '/', page: () => import('./pages/home/home.tsx') },
          { id: 'find', path: '/find', page: () => import('./pages/find.tsx') },
          { id: 'notes', path: '/notes', page: () => import('./pages/notes.tsx') },
          { id: 'draft', path: '/draft', page: () => import('./pages/draft.tsx') },
          { id: 'list', path: '/list', page: () => import('./pages/list.tsx') },
          { id: 'kept', path: '/kept', mode: 'static', page: () => import('./pages/home/home.tsx') },
          { id: 'city', path: '/city', page: () => import('./pages/city.tsx') },
          { id: 'inner', path: '/inner', page: () => import('./pages/inner.tsx') },
          { id: 'plain', path: '/plain', page: () => import('./pages/plain.tsx') },
          { id: 'release', path: '/release', page: () => import('./pages/home/home.tsx') },
        ],
      },
    ]);`,
  'src/shared/product/pages/root.tsx': `
    import { Outlet, useSubmit } from 'react-router';
    import { Form } from '../../rendering/actions.tsx';
    import { useNonce } from '#engine';
    import { Link } from '#engine';
    const script = { __html: 'window.ranInline = true' };
    export default function Root() {
      const submit = useSubmit();
      return (
        <>
          <script nonce={useNonce()} dangerouslySetInnerHTML={script} />
          <Form method="get" to="/find" role="search">
            <input type="search" name="q" aria-label="Find" onChange={({ currentTarget }) => submit(currentTarget.form)} />
          </Form>
          <div contentEditable role="textbox" aria-label="Scratch" />
          <Link to="/notes">Notes</Link>
          <Form action="root.ring"><button type="submit">Ring</button></Form>
          <main><Outlet /></main>
        </>
      );
    }`,
  'src/shared/product/pages/find.tsx': `
    import { useSearchParams } from 'react-router';
    export default function Find() {
      const [search] = useSearchParams();
      return <><title>Find</title><h1>Find</h1><p>Looked for {search.get('q')}.</p></>;
    }`,
  'src/shared/product/pages/notes.tsx': `
    import { Form } from '../../rendering/actions.tsx';
    import { useActionResult } from '../../rendering/hooks.ts';
    function Note({ label, reset }) {
      const { errors, values } = useActionResult('notes.add') ?? {};
      return (
        <Form action="notes.add" reset={reset} noValidate aria-label={label}>
          <input name="title" aria-label="Title" defaultValue={values?.title} aria-invalid={errors?.title ? true : undefined} />
          <textarea name="text" aria-label="Text" defaultValue={values?.text} aria-invalid={errors?.text ? true : undefined} />
          <button type="submit">Add</button>
        </Form>
      );
    }
    export default function Notes({ data }) {
      const outcome = useActionResult('notes.add');
      return (
        <>
          <title>Notes</title>
          <h1>Notes</h1>
          <ul>{data.notes.map((note) => <li key={note}>{note}</li>)}</ul>
          <Note label="Emptied" reset />
          <Note label="Kept" />
          <p role="status">{Object.values(outcome?.errors ?? {}).join(' ')}</p>
        </>
      );
    }`,
  'src/shared/product/pages/draft.tsx': `
    import { useState } from 'react';
    import { useBlocker } from 'react-router';
    import { Link } from '#engine';
    export default function Draft() {
      const [isDirty, setDirty] = useState(false);
      const { state, proceed } = useBlocker(isDirty);
      return (
        <>
          <title>Draft</title>
          <h1>Draft</h1>
          <input aria-label="Text" onChange={() => setDirty(true)} />
          <Link to="/list">List</Link>
          {state === 'blocked' && <button type="button" onClick={() => proceed()}>Leave it</button>}
        </>
      );
    }`,
  'src/shared/product/pages/list.tsx': `
    import { Link } from '#engine';
    export default function List() {
      return (
        <>
          <title>List</title>
          <h1>List</h1>
          <Link to="/draft">Draft</Link>
        </>
      );
    }`,
  'src/shared/product/pages/city.tsx': `
    import { useNavigation } from 'react-router';
    import { Await, Link } from '#engine';
    export default function City({ data: { city, keyed, weather } }) {
      const { state } = useNavigation();
      return (
        <>
          <title>City</title>
          <h1>{city}</h1>
          <p id="state">{state}</p>
          <Link to="/city?name=Turin" prefetch="none">Turin</Link>
          <Link to="/city?name=Turin&keyed=1" prefetch="none">Turin, by key</Link>
          <div id="place">
            <Await key={keyed ? city : ''} value={weather} fallback={<p>Asking…</p>}>
              {(words) => <p>{words}</p>}
            </Await>
          </div>
        </>
      );
    }`,
  'src/shared/product/pages/inner.tsx': `
    import { Suspense, use } from 'react';
    import { Await } from '#engine';
    function Second({ value }) { return <p>{use(value)}</p>; }
    export default function Inner({ data: { first, second } }) {
      return (
        <>
          <title>Inner</title>
          <h1>Inner</h1>
          <div id="together">
            <Await value={first} fallback={<p>Waiting for both…</p>}>
              {(words) => <><p>{words}</p><Second value={second} /></>}
            </Await>
          </div>
          <div id="apart">
            <Await value={first} fallback={<p>Waiting for the first…</p>}>
              {(words) => <><p>{words}</p><Suspense fallback={<p>Waiting for the second…</p>}><Second value={second} /></Suspense></>}
            </Await>
          </div>
          <div id="outer">
            <Suspense fallback={<p>Never shown.</p>}>
              <p>Shown at once.</p>
              <Await value={second} fallback={<p>Waiting in here…</p>}>{(words) => <p>{words}</p>}</Await>
            </Suspense>
          </div>
        </>
      );
    }`,
  'src/shared/product/pages/plain.tsx': `
    import { Suspense, use } from 'react';
    function Value({ value }) { return <p>{use(value)}</p>; }
    export default function Plain({ data: { value } }) {
      return <><title>Plain</title><h1>Plain</h1><Suspense fallback={<p>Waiting…</p>}><Value value={value} /></Suspense></>;
    }
    export function ErrorBoundary() { return <h1>The whole page failed</h1>; }`,
  'src/server/product/pages/index.ts': `
    import { setTimeout } from 'node:timers/promises';
    import { redirect } from '#engine';
    import { invalid } from '#engine/server';
    const notes = [];
    const held = [];
    const hold = (value) => new Promise((resolve) => held.push(() => resolve(value)));
    function add({ form }) {
      const { title, text } = Object.fromEntries(form);
      const errors = { ...(title ? {} : { title: 'Give a title.' }), ...(text ? {} : { text: 'Give a text.' }) };
      if (Object.keys(errors).length > 0) return invalid({ errors });
      notes.push(title + ': ' + text);
      if (title === 'Moved') redirect('/notes?moved');
    }
    export const pages = {
      root: { actions: { ring() { throw new Error('The bell is broken.'); } } },
      home: null,
      find: null,
      notes: { loader: () => ({ notes }), actions: { add } },
      draft: null,
      list: null,
      kept: null,
      release: { loader: () => { for (const give of held.splice(0)) give(); return {}; } },
      city: {
        loader: ({ request }) => {
          const { searchParams } = new URL(request.url);
          const city = searchParams.get('name') ?? 'Oslo';
          return { city, keyed: searchParams.has('keyed'), weather: city === 'Oslo' ? Promise.resolve('Rain in Oslo') : hold('Sun in ' + city) };
        },
      },
      inner: { loader: () => ({ first: setTimeout(300, 'First'), second: hold('Second') }) },
      plain: {
        loader: ({ request }) => ({
          value: new URL(request.url).searchParams.has('fail') ? setTimeout(200).then(() => { throw new Error('Refused.'); }) : setTimeout(200, 'There'),
        }),
      },
    };`,
});

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
  await page.getByText('Looked for a.').waitFor();
  expect(await focused(page)).toBe('Find');
  await page.keyboard.type('da');
  await page.getByText('Looked for ada.').waitFor();
  expect(documents).toEqual(['/']);
});

test('a focused field keeps the focus on Back, and a link moves it to the page', async () => {
  const { page } = await open('/');
  await page.getByRole('link', { name: 'Notes' }).click();
  await heading(page, 'Notes');
  expect(await focused(page)).toBe('main');
  await page.getByLabel('Scratch').focus();
  await page.goBack();
  await heading(page, 'Home');
  expect(await focused(page)).toBe('Scratch');
});

test('a rejected form moves the focus to its first invalid field, unless it has moved elsewhere', async () => {
  const { page } = await open('/notes');
  const { title, add } = fieldsOf(page, 'Emptied');
  await title.fill('Ferry');
  await add.click();
  await page.getByText('Give a text.').waitFor();
  await expect.poll(() => focused(page)).toBe('Text');
  const release = Promise.withResolvers<void>();
  await page.route('**/notes', (route) => release.promise.then(() => route.continue()));
  const posted = page.waitForRequest((request) => request.method() === 'POST');
  await title.fill('');
  await add.click();
  await posted;
  await page.getByLabel('Scratch').focus();
  release.resolve();
  await page.getByText('Give a title. Give a text.').waitFor();
  expect(await focused(page)).toBe('Scratch');
});

test.each(['Stays', 'Moved', 'Without JavaScript'])(
  'a form with reset is emptied on success, also after a rejection: %s',
  async (name) => {
    const javaScriptEnabled = name !== 'Without JavaScript';
    const { page, documents, complaints } = await visit('/notes', { javaScriptEnabled });
    if (javaScriptEnabled) await exchanged(page);
    const { title, text, add } = fieldsOf(page, 'Emptied');
    await title.fill(name);
    await add.click();
    await page.getByText('Give a text.').waitFor();
    expect(await title.inputValue()).toBe(name);
    await text.fill('At noon');
    await add.click();
    await page.getByText(`${name}: At noon`).waitFor();
    await expect.poll(() => title.inputValue()).toBe('');
    expect(await text.inputValue()).toBe('');
    if (javaScriptEnabled) expect(documents).toEqual(['/notes']);
    expect(complaints.filter((line) => !line.includes('status of 422'))).toEqual([]);
  },
);

test('a form without reset keeps its values', async () => {
  const { page } = await open('/notes');
  const { title, text, add } = fieldsOf(page, 'Kept');
  await title.fill('Kept');
  await text.fill('At one');
  await add.click();
  await page.getByText('Kept: At one').waitFor();
  expect([await title.inputValue(), await text.inputValue()]).toEqual(['Kept', 'At one']);
});

/** Types into the draft and leaves the page, which must ask for confirmation once. */
async function leaveDraft(page: Page): Promise<void> {
  await page.getByLabel('Text').fill('A letter');
  await page.getByRole('link', { name: 'List' }).click();
  await page.getByRole('button', { name: 'Leave it' }).click();
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
  await page.getByRole('link', { name: 'Draft' }).click();
  await heading(page, 'Draft');
  await leaveDraft(page);
  expect(documents).toEqual(['/draft']);
  expect(complaints).toEqual([]);
});

test('an inline script with useNonce() runs only if the page is rendered per request', async () => {
  const ran = (page: Page) => page.evaluate(() => 'ranInline' in window);
  const { page, complaints } = await open('/');
  expect([await ran(page), complaints]).toEqual([true, []]);
  expect(await ran((await open('/kept')).page)).toBe(false);
});

test.each([true, false])(
  'a failing action of a layout keeps the layout, with JavaScript: %s',
  async (javaScriptEnabled) => {
    const { page } = await visit('/notes', { javaScriptEnabled });
    if (javaScriptEnabled) await exchanged(page);
    await page.getByRole('button', { name: 'Ring' }).click();
    await page.locator('main').getByRole('heading', { name: 'failure' }).waitFor();
    expect(await page.getByRole('search').isVisible()).toBe(true);
    expect(await page.getByRole('button', { name: 'Ring' }).isVisible()).toBe(true);
  },
);

// The section on `Await` and React's Suspense in the guide's chapter on deferred data.

/** Lets the held values arrive. */
const release = (page: Page) => page.request.get('/release');

const read = async (page: Page, selector: string) => (await page.locator(selector).innerText()).split(/\n+/);

const readAll = (page: Page) => Promise.all(['#together', '#apart', '#outer'].map((id) => read(page, id)));

test.each([
  ['keeps it until the next one arrives, and delays the whole update', 'Turin'],
  ['shows its fallback immediately if its key changes', 'Turin, by key'],
])('an Await that already shows a value %s', async (_what, name) => {
  const { page, complaints } = await visit('/city');
  await exchanged(page);
  await page.getByRole('link', { name, exact: true }).click();
  const readPage = async () => [await read(page, 'h1'), await read(page, '#state'), await read(page, '#place')].flat();
  if (name === 'Turin') {
    await page.locator('#state').getByText('loading').waitFor();
    await page.waitForTimeout(500);
    expect(await readPage()).toEqual(['Oslo', 'loading', 'Rain in Oslo']);
  } else {
    await page.getByText('Asking…').waitFor();
    expect(await readPage()).toEqual(['Turin', 'idle', 'Asking…']);
  }
  await release(page);
  await page.getByText('Sun in Turin').waitFor();
  expect(await readPage()).toEqual(['Turin', 'idle', 'Sun in Turin']);
  expect(complaints).toEqual([]);
});

test('a value arrives after the page has become interactive and the router has taken over', async () => {
  const { page, complaints } = await visit('/');
  await page.goto('/city?name=Turin', { waitUntil: 'commit' });
  await exchanged(page);
  expect(await read(page, '#place')).toEqual(['Asking…']);
  await release(page);
  await page.getByText('Sun in Turin').waitFor();
  expect(complaints).toEqual([]);
});

test('a component that suspends inside an Await keeps the fallback visible, unless it has its own Suspense', async () => {
  const { page, complaints } = await visit('/');
  await page.goto('/inner', { waitUntil: 'commit' });
  await page.locator('#apart').getByText('Waiting for the second…').waitFor();
  expect(await readAll(page)).toEqual([
    ['Waiting for both…'],
    ['First', 'Waiting for the second…'],
    ['Shown at once.', 'Waiting in here…'], // the Suspense around this Await does not wait for it
  ]);
  await release(page);
  await page.locator('#outer').getByText('Second').waitFor();
  expect(await readAll(page)).toEqual([
    ['First', 'Second'],
    ['First', 'Second'],
    ['Shown at once.', 'Second'],
  ]);
  expect(complaints).toEqual([]);
});

test('use() inside a Suspense shows the value, and a rejection replaces the page with its ErrorBoundary', async () => {
  const { page, complaints } = await visit('/plain');
  await page.locator('main').getByText('There').waitFor();
  expect(complaints).toEqual([]);
  await page.goto('/plain?fail');
  await page.getByRole('heading', { name: 'The whole page failed' }).waitFor();
});

test('a navigation changes the language of the document, and Spillway speaks it', async () => {
  const { page } = await open('/');
  const language = () => page.evaluate(() => `${document.documentElement.lang} ${document.dir || 'ltr'}`);
  expect(await language()).toBe('nb ltr');
  await page.getByRole('link', { name: 'Notes' }).click();
  await page.getByRole('heading', { name: 'Notes' }).waitFor();
  expect(await language()).toBe('ar rtl');
  await page.route('**/*', (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()));
  await page.getByRole('form', { name: 'Kept' }).getByRole('button', { name: 'Add' }).click();
  await page.getByText('لم يرسل النموذج. What you typed is still here.').waitFor();
  await page.goBack();
  await expect.poll(language).toBe('nb ltr');
});
