import { createOwnedApp, type OwnedApp } from '../../support/owned-app.ts';

const pages = 'src/shared/product/pages';

/** A page with a heading and the given body, with React's hooks in scope. */
const page = (body: string, { imports = '', outside = '' } = {}) => `
  import { Component, Fragment, lazy, Suspense, useEffect, useState } from 'react';
  import { forbidden, notFound, redirect, report } from '#engine';
  import { Await } from '#engine';
  import { Form } from '../../rendering/actions.tsx';
  import { Link } from '#engine';
  ${imports}
  const onServer = typeof document === 'undefined';
  ${outside}
  export default function Page({ data }) {
    ${body}
  }`;

const server = (body: string) => `export const page = { ${body} };`;

const shown: Readonly<Record<string, string>> = {
  home: page(
    `return <><h1>Home</h1>{${JSON.stringify([
      '/buttons',
      '/boundary',
      '/effect',
      '/mismatch',
      '/late',
      '/twice',
      '/loader',
      '/other',
      '/styled',
      '/kept',
      '/moved',
      '/lost',
      '/lazy',
    ])}.map((to) => <p key={to}><Link to={to} prefetch="none">{to}</Link></p>)}</>;`,
  ),
  buttons: page(
    `return <>
      <h1>Buttons</h1>
      <button onClick={() => { throw new Error('in a handler'); }}>handler</button>
      <button onClick={() => { throw 'only words'; }}>words</button>
      <button onClick={() => void Promise.reject(new TypeError('rejected'))}>rejection</button>
      <button onClick={() => report(new Error(Said.parse({ words: 'handled' }).words), { level: 'warning', tags: { plan: 'pro' }, extra: { step: 2 } })}>handled</button>
      <button onClick={() => void fetch('/slow', { signal: AbortSignal.abort() })}>abort</button>
      <button onClick={() => void fetch('http://127.0.0.1:9/')}>network</button>
      <a href="/other?of=Acme" aria-label="Open the merger of Acme" onClick={(event) => event.preventDefault()}>link</a>
      <button onClick={() => { console.log('a word before'); setTimeout(() => { throw new Error('later'); }); }}>later</button>
    </>;`,
    // Without a setting, Zod tries `new Function()` first, which the policy reports.
    { imports: "import * as z from 'zod';", outside: 'const Said = z.object({ words: z.string() });' },
  ),
  boundary: page(`
    const [failing, setFailing] = useState(false);
    if (failing === 'error') throw new Error('in a render');
    if (failing === 'words') throw 'words in a render';
    if (failing === 'lost') notFound();
    return <>
      <h1>Boundary</h1>
      <button onClick={() => setFailing('error')}>fail</button>
      <button onClick={() => setFailing('words')}>words</button>
      <button onClick={() => setFailing('lost')}>lose</button>
    </>;`),
  effect: page(`useEffect(() => { throw new Error('in an effect'); }, []); return <h1>Effect</h1>;`),
  mismatch: page(`return <h1>{onServer ? 'server' : 'browser'}</h1>;`),
  throwing: page(
    `useEffect(() => {}, []); if (globalThis.hydratesBadly) { globalThis.hydratesBadly = false; throw new Error('while hydrating'); } return <h1>Throwing</h1>;`,
  ),
  late: page(
    `return <><h1>Late</h1><Await value={data.late} fallback={<i>wait</i>}>{(value) => <b>{value}</b>}</Await><Await value={data.late}>{(value) => <b>{value}</b>}</Await></>;`,
  ),
  once: page(`return <><h1>Once</h1><Suspense fallback={<i>wait</i>}><Part /></Suspense></>;`, {
    outside: `function Part() { if (onServer) throw new Error('on the server alone'); return <b>mended</b>; }`,
  }),
  twice: page(`return <><h1>Twice</h1><Suspense fallback={<i>wait</i>}><Part /></Suspense></>;`, {
    outside: `function Part() { throw new Error('on both sides'); }`,
  }),
  loader: page(`return <h1>never</h1>;`),
  acting: page(
    `return <><h1>Acting</h1><Form method="post"><input type="hidden" name="_action" value="acting.fail" /><button>act</button></Form></>;`,
  ),
  other: page(`return <h1>Other</h1>;`),
  evaluated: page(`return <h1>Evaluated</h1>;`, {
    outside: `if (!onServer) throw new Error('while its module ran');`,
  }),
  styled: page(`return <h1>Styled</h1>;`, { imports: `import './styled.css';` }),
  kept: page(
    `return <><h1>Kept</h1><button onClick={() => { throw new Error('in a kept page'); }}>handler</button></>;`,
  ),
  lazy: page(
    `
    const [Boundary, setBoundary] = useState();
    return <>
      <h1>Lazy</h1>
      <button onClick={() => setBoundary(() => Fragment)}>in the page</button>
      <button onClick={() => setBoundary(() => Own)}>in a boundary</button>
      {Boundary && <Boundary><Suspense fallback={<i>wait</i>}><Part /></Suspense></Boundary>}
    </>;`,
    {
      outside: `
        const Part = lazy(() => import('./lazy-part.tsx'));
        class Own extends Component {
          state = {};
          static getDerivedStateFromError() { return { failed: true }; }
          render() { return this.state.failed ? <h1>failure</h1> : this.props.children; }
        }`,
    },
  ),
  moved: page(`return null;`),
  lost: page(`return null;`),
};

const halves: Readonly<Record<string, string>> = {
  late: server(
    `loader: () => ({ late: new Promise((_, reject) => setTimeout(() => reject(new Error('too late')), 50)) })`,
  ),
  loader: server(`loader() { throw new Error('in a loader'); }`),
  acting: server(`actions: { fail() { throw new Error('in an action'); } }`),
  moved: `import { redirect } from '#engine'; ${server(`loader: () => redirect('/other')`)}`,
  lost: `import { notFound } from '#engine'; ${server(`loader: () => notFound()`)}`,
};

const routeLines = Object.keys(shown).map(
  (id) =>
    `{ id: '${id}', path: '${id === 'home' ? '/' : `/${id}`}', ${id === 'kept' ? `mode: 'static',` : ''} page: () => import('./pages/${id}.tsx') },`,
);

/** Creates an app with a page for each kind of browser failure. */
export function createFailingApp(): OwnedApp {
  const app = createOwnedApp();
  app.write({
    'src/shared/product/routes.tsx': `
      import { defineRoutes } from '#engine';
      export const routes = defineRoutes([
        { id: 'root', page: () => import('./pages/root/root.tsx'), children: [${routeLines.join('\n')}] },
      ]);`,
    'src/shared/product/document.tsx': `
      import { useState } from 'react';
      function Bomb() {
        const [failing, setFailing] = useState(false);
        if (failing) throw new Error('outside of everything');
        return <button onClick={() => setFailing(true)}>bomb</button>;
      }
      export function Document({ lang, head, children }) {
        return <html lang={lang}><head><meta charSet="utf-8" />{head}</head><body>{children}<Bomb /></body></html>;
      }`,
    [`${pages}/home/home.tsx`]: undefined,
    [`${pages}/lazy-part.tsx`]: `export default () => <b>part</b>;`,
    [`${pages}/styled.css`]: 'h1 { color: rgb(1, 2, 3); }',
    ...Object.fromEntries(Object.entries(shown).map(([id, source]) => [`${pages}/${id}.tsx`, source])),
    ...Object.fromEntries(Object.entries(halves).map(([id, source]) => [`src/server/product/pages/${id}.ts`, source])),
    'src/server/product/pages/index.ts': `
      ${Object.keys(halves)
        .map((id) => `import { page as ${id} } from './${id}.ts';`)
        .join('\n')}
      export const pages = { root: null, ${Object.keys(shown)
        .map((id) => (id in halves ? id : `${id}: null`))
        .join(', ')} };`,
  });
  return app;
}
