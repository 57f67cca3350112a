import { formsPage, OTHER } from './own-forms-page.ts';

/** A product with pages that the tour does not have. */
export const ownProduct = {
  'src/shared/product/document.tsx': `
    export function Document({ lang, dir, head, children }) {
      return <html lang={lang} dir={dir}><head><meta charSet="utf-8" />{head}</head><body>{children}</body></html>;
    }
    const UNSENT = 'The form was not sent. Check your connection, then send it again.';
    Document.language = (path) =>
      path === '/notes' ? { lang: 'ar', dir: 'rtl', texts: { [UNSENT]: 'لم يرسل النموذج.' } } : { lang: 'nb' };`,
  'src/shared/product/error-pages.tsx': `
    function ErrorPage({ error }) {
      if (error.inBrowser) throw new Error('The error page is broken too.');
      return <><title>{error.kind}</title><h1>{error.message ?? error.kind}</h1><p>{error.digest}</p></>;
    }
    export const errorPages = {
      notFound: ErrorPage, forbidden: ErrorPage, unauthorized: ErrorPage, public: ErrorPage, failure: ErrorPage,
    };`,
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
          { id: 'plain', path: '/plain', page: () => import('./pages/plain.tsx') },
          { id: 'release', path: '/release', page: () => import('./pages/home/home.tsx') },
          { id: 'forms', path: '/forms', page: () => import('./pages/forms.tsx') },
          { id: 'item', path: '/items/:id', page: () => import('./pages/item.tsx') },
          { id: 'moved', path: '/moved', page: () => import('./pages/home/home.tsx') },
          { id: 'chart', path: '/chart', page: () => import('./pages/chart.tsx') },
          { id: 'gone', path: '/gone', page: () => import('./pages/gone.tsx') },
        ],
      },
    ]);`,
  'src/shared/product/pages/root.tsx': `
    import { Outlet, useSubmit } from 'react-router';
    import { Form } from '../../rendering/actions.tsx';
    import { Link } from '#engine';
    export default function Root() {
      const submit = useSubmit();
      return (
        <>
          <Form method="get" to="/find" role="search">
            <input type="search" name="q" aria-label="Find" onChange={({ currentTarget }) => submit(currentTarget.form)} />
          </Form>
          <div contentEditable role="textbox" aria-label="Scratch" />
          <Link to="/notes">Notes</Link>
          <Link to="/chart">Chart</Link>
          <Form action="root.ring"><button type="submit">Ring</button></Form>
          <main><Outlet /></main>
        </>
      );
    }`,
  'src/shared/product/pages/find.tsx': `
    import { useSearchParams } from 'react-router';
    import { useActionState } from 'react';
    import { Form } from '../../rendering/actions.tsx';
    import { Link } from '#engine';
    const stop = (event) => event.stopPropagation();
    export default function Find() {
      const [search] = useSearchParams();
      const [noted, note] = useActionState((_before, form) => form.get('note'), '');
      return (
        <>
          <title>Find</title>
          <h1>Find</h1>
          <p>Looked for {search.get('q')}.</p>
          <Form method="get" onSubmit={stop}><input name="q" aria-label="Find here" /></Form>
          <form action={note}><input name="note" aria-label="Note" /></form>
          <p>Noted {noted}.</p>
          <Link to="/list" onClick={stop}>Stopped</Link>
          <Link to="/list">
            <label>Watched <input type="checkbox" /></label>
            <form action={note}><input type="hidden" name="note" value="teal" /><button>Note a teal</button></form>
            <button type="button">Open the list</button>
          </Link>
        </>
      );
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
    import { useBlocker, useLocation } from 'react-router';
    import { Link } from '#engine';
    export default function Draft() {
      const from = useLocation().state ?? 'nowhere';
      const [isDirty, setDirty] = useState(false);
      const { state, proceed } = useBlocker(isDirty);
      return (
        <>
          <title>Draft</title>
          <h1>Draft</h1>
          <p>From {from}.</p>
          <input aria-label="Text" onChange={() => setDirty(true)} />
          <Link to="/list">List</Link>
          {state === 'blocked' && <button type="button" onClick={() => proceed()}>Leave it</button>}
        </>
      );
    }`,
  'src/shared/product/pages/list.tsx': `
    import { useState } from 'react';
    import { useNavigate } from 'react-router';
    import { Link } from '#engine';
    export default function List() {
      const [isBroken, setBroken] = useState(false);
      const navigate = useNavigate();
      if (isBroken) throw new Error('The list is broken.');
      return (
        <>
          <title>List</title>
          <h1>List</h1>
          <Link to="/draft">Draft</Link>
          <Link to="/gone">Gone</Link>
          <Link to="/gone?later">Gone later</Link>
          <button type="button" onClick={() => setBroken(true)}>Break</button>
          <button type="button" onClick={() => navigate('../draft', { state: 'the list' })}>Write</button>
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
          <Link to="/city?name=Hull" prefetch="none">Hull</Link>
          <Link to="/city?name=Oslo" prefetch="none">Oslo</Link>
          <Link to="/city?name=Elsewhere" prefetch="none">Elsewhere</Link>
          <div id="place">
            <Await key={keyed ? city : ''} value={weather} fallback={<p>Asking…</p>}>
              {(words) => {
                if (words === 'Hail') throw new Error('No hail.');
                return <p>{words}</p>;
              }}
            </Await>
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
  'src/shared/product/pages/chart.tsx': `
    export default function Chart() {
      return <><title>Chart</title><h1>Chart</h1><select autoFocus aria-label="Year" /></>;
    }`,
  'src/shared/product/pages/gone.tsx': `
    import { Suspense, use } from 'react';
    import { redirect } from '#engine';
    function Later({ value }) { return use(value); }
    export default function Gone({ data: { later } }) {
      if (!later) redirect('/draft');
      return <Suspense><Later value={later} /></Suspense>;
    }
    export function ErrorBoundary() { return <h1>Failed</h1>; }`,
  'src/shared/product/pages/forms.tsx': formsPage,
  'src/shared/product/pages/item.tsx': `
    import { useEffect, useState } from 'react';
    import { useFetcher } from 'react-router';
    import { Form } from '../../rendering/actions.tsx';
    import { useActionResult } from '../../rendering/hooks.ts';
    import { Await, Link, useRefresh } from '#engine';
    export default function Item({ data: { id, price, sales } }) {
      const fetcher = useFetcher();
      const [isHydrated, setHydrated] = useState(false);
      useEffect(() => setHydrated(true), []);
      return (
        <>
          <title>{'Item ' + id}</title>
          <h1>Item {id}</h1>
          <p>{isHydrated && 'Hydrated'}</p>
          <Link to="/items/1" prefetch="none">Item 1</Link>
          <Link to="/items/2" prefetch="none">Item 2</Link>
          <Link to="/items/slow" prefetch="none">Slow item</Link>
          <Link to="?page=2" prefetch="none">Next page</Link>
          <Form action="item.save">
            <input name="price" aria-label="Price" defaultValue={price} />
            <button>Save</button>
          </Form>
          <p role="alert">{Object.values(useActionResult('item.save')?.errors ?? {}).join(' ')}</p>
          <Form action="item.remove"><button>Remove</button></Form>
          <fetcher.Form method="post"><button name="_action" value="item.remove">Remove by a fetcher</button></fetcher.Form>
          <button type="button" onClick={useRefresh()}>Refresh</button>
          <output id="removed">{useActionResult('item.remove')?.data}</output>
          <Await value={sales} fallback={<p>Counting…</p>}>{(count) => <p>{count} sold</p>}</Await>
        </>
      );
    }`,
  'src/server/product/pages/index.ts': `
    import { setTimeout } from 'node:timers/promises';
    import { redirect } from '#engine';
    import { invalid } from '#engine/server';
    const notes = [];
    const toField = ([name, value]) => [name, value instanceof File ? value.size : value];
    const prices = new Map();
    let loads = 0;
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
      forms: {
        loader: () => null,
        guard: ({ url }) => {
          if (url.searchParams.has('ended')) redirect('/notes');
          if (url.searchParams.has('broken')) throw new Error('The guard failed.');
        },
        actions: {
          save: ({ form }) => [...form].filter(([name]) => name !== '_action').map(toField),
          leave: () => redirect('${OTHER}/left', { external: true }),
          attach: { maxBytes: 5 * 1024 * 1024, run: ({ form }) => [...form].map(toField) },
        },
      },
      item: {
        guard: ({ request }) => {
          if (/ended/.test(request.headers.get('cookie'))) redirect('/list');
        },
        loader({ params: { id } }) {
          const isHeld = id === 'slow' || (id === 'later' && loads++ > 0);
          return { id, price: prices.get(id) ?? id + '00', sales: isHeld ? hold(4) : Promise.resolve(3) };
        },
        actions: {
          save({ params: { id }, form }) {
            const price = form.get('price');
            if (price === 'cheap') return invalid({ errors: { price: 'Give a number.' } });
            if (price === 'homeless') return invalid({ errors: { shelf: 'Give a shelf.' } });
            prices.set(id, price);
            redirect('/list');
          },
          remove: ({ params: { id } }) => id,
        },
      },
      chart: null,
      gone: { loader: ({ url }) => ({ later: url.search ? setTimeout(50).then(() => redirect('/draft')) : undefined }) },
      moved: { loader: ({ url }) => redirect('/forms' + url.search) },
      release: { loader: () => { for (const give of held.splice(0)) give(); return {}; } },
      city: {
        loader: ({ request }) => {
          const { searchParams, port } = new URL(request.url);
          const city = searchParams.get('name') ?? 'Oslo';
          if (city === 'Hull') return { city, weather: 'Hail' };
          if (city === 'Elsewhere') return { city, weather: setTimeout(50).then(() => redirect('http://localhost:' + port + '/livez', { external: true })) };
          return { city, keyed: searchParams.has('keyed'), weather: city === 'Oslo' ? Promise.resolve('Rain in Oslo') : hold('Sun in ' + city) };
        },
      },
      plain: {
        loader: ({ request }) => ({
          value: new URL(request.url).searchParams.has('fail') ? setTimeout(200).then(() => { throw new Error('Refused.'); }) : setTimeout(200, 'There'),
        }),
      },
    };`,
  'src/server/product/index.ts': `
    import { defineProduct, HttpError } from '#engine/server';
    import { createApi } from './api/index.ts';
    import { pages } from './pages/index.ts';
    import { settings } from './settings.ts';
    export const product = defineProduct({
      settings,
      pages,
      api: createApi,
      contentSources: { form: ['${OTHER}'] },
      steps: () => [
        (req, res, next) => {
          if (!req.query.step) return next();
          if (req.query.step === 'redirects') return res.redirect('/notes?signed-out');
          throw req.query.step === 'fails' ? new Error('The step failed.') : new HttpError(503, 'Closed until Monday.');
        },
      ],
      existingApp: { app: (req, res) => res.end(req.method + ' ' + req.url) },
    });`,
};
