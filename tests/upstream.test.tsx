// Behaviour of React, React Router, Express and Node that we rely on although it is not documented. A new version can
// change it without notice. Each test's message says what would break, and which file to look at.

import { existsSync, readFileSync } from 'node:fs';
import http, { type Server } from 'node:http';
import { createRequire } from 'node:module';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import * as routerHistory from 'spillway:history';
import * as routerModule from 'spillway:router';
import * as routerContexts from 'spillway:router-contexts';
import express, { type Express } from 'express';
import { forwardRef, lazy, memo, Suspense, use } from 'react';
import { type PipeableStream, renderToPipeableStream } from 'react-dom/server';
import { createMemoryRouter, IDLE_NAVIGATION } from 'react-router';
import { expect, it } from 'vitest';
import { joinReactWrites } from '../build/join-react-writes.mjs';
import { COSTLY } from '../build/node-http.mjs';
import { listExports } from '../build/react-router.mjs';
import { DEFAULT_TRUST, ROUTING } from '../src/server/engine/existing-app.ts';
import { CLOSING, HEAD } from '../src/server/engine/pages/render/page-sink.ts';
import { REACT_MESSAGES } from '../src/shared/engine/rendering/react-errors.ts';
import { createRouteTree } from '../src/shared/engine/routing/route-objects.ts';
import { createStandIn } from '../src/shared/engine/routing/stand-in.ts';

interface Reliance {
  readonly on: 'react-dom' | 'react' | 'react-refresh' | 'react-router' | 'express' | 'Node';
  /** A sentence that continues from the name: `react-dom` *writes `<head>` first*. */
  readonly what: string;
  /** The file that relies on it. */
  readonly by: string;
  /** What would happen if it changed. */
  readonly harm: string;
  /** Lists what is not as expected; empty if everything is. */
  readonly missing: () => readonly string[] | Promise<readonly string[]>;
}

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL('..', import.meta.url));

const readPackageFile = (name: string, file: string): string =>
  readFileSync(require.resolve(`${name}/package.json`).replace('package.json', file), 'utf8');
const reactServer = (): string => readPackageFile('react-dom', 'cjs/react-dom-server.node.production.js');

function versionOf(name: Reliance['on']): string {
  return name === 'Node' ? process.version : (JSON.parse(readPackageFile(name, 'package.json')).version as string);
}

/** The names of the facts that are false. */
const failing = (facts: Readonly<Record<string, boolean>>): string[] =>
  Object.keys(facts).filter((name) => !facts[name]);

const without = (found: readonly string[], expected: readonly string[]): string[] =>
  expected.filter((name) => !found.includes(name));

/** Renders a page and collects what React writes: the text up to each `flush()`, and the whole text. */
async function renderPage(
  read: () => string,
): Promise<{ readonly flushes: readonly string[]; readonly whole: string; readonly last: string }> {
  const Part = () => <b>{read()}</b>;
  let whole = '';
  let last = '';
  const flushes: string[] = [];
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const sink = {
    write(chunk: string | Uint8Array) {
      last = typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk);
      whole += last;
      return true;
    },
    flush: () => flushes.push(whole),
    end,
    on: () => sink,
    destroy: end,
  };
  const stream: PipeableStream = renderToPipeableStream(
    <html lang="en">
      <head>
        <title>Weir</title>
        <link rel="stylesheet" href="/a.css" precedence="default" />
        <meta charSet="utf-8" />
      </head>
      <body>
        {Array.from({ length: 500 }, (_, row) => (
          <p key={row} title="in the middle of a tag">
            {`row ${row}`}
          </p>
        ))}
        <Suspense fallback={<i>awaited</i>}>
          <Part />
        </Suspense>
      </body>
    </html>,
    {
      onShellReady: () => void stream.pipe(sink as unknown as NodeJS.WritableStream),
      onError: () => 'the-digest',
    },
  );
  await ended;
  return { flushes, whole, last };
}

function fail(): never {
  throw new Error('no value');
}

/** Suspends briefly, then calls `read`. */
function late(read: () => string): () => string {
  const soon = new Promise((resolve) => setTimeout(resolve, 5)).then(read);
  return () => use(soon);
}

/** True if a script can be inserted here: after a complete tag, and not inside a script, style or template. */
function isBetweenTags(html: string): boolean {
  const count = (tag: string) => html.split(`<${tag}`).length - html.split(`</${tag}>`).length;
  return html.endsWith('>') && ['script', 'style', 'template'].every((tag) => count(tag) === 0);
}

async function withServer<Result>(
  listener: http.RequestListener,
  ask: (port: number, server: Server) => Promise<Result>,
): Promise<Result> {
  const server = http.createServer(listener);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  try {
    return await ask((server.address() as net.AddressInfo).port, server);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const tree = createRouteTree([{ id: 'home', path: '/', page: async () => ({ default: () => null }) }]);

const RELIANCES: readonly Reliance[] = [
  {
    on: 'react-dom',
    what: 'begins a page with `<html>`, `<head>` and the character set',
    by: 'src/server/engine/pages/render/page-sink.ts',
    harm: 'The first script of a page, which keeps early errors, would come after the style sheets.',
    async missing() {
      const { whole } = await renderPage(() => 'now');
      const [head = ''] = HEAD.exec(whole) ?? [];
      return failing({
        '<html …><head> at the start': /^(?:<!DOCTYPE html>)?<html[^>]*><head>/.test(head),
        '<meta charSet> next': head.endsWith('<meta charSet="utf-8"/>'),
      });
    },
  },
  {
    on: 'react-dom',
    what: 'calls `flush()` between whole tags only, once for each part',
    by: 'src/server/engine/pages/render/page-sink.ts',
    harm: 'The script of a deferred value could end up inside a tag.',
    async missing() {
      const { flushes, whole } = await renderPage(late(() => 'late'));
      const broken = flushes.filter((html) => html !== whole && !isBetweenTags(html.replace(CLOSING, '')));
      return failing({
        'a flush for the shell': flushes.length > 1 && (flushes[0]?.includes('row 499') ?? false),
        'no flush inside a tag': broken.length === 0,
      });
    },
  },
  {
    on: 'react-dom',
    what: 'ends a page with `</body></html>` in its last write',
    by: 'src/server/engine/pages/render/page-sink.ts',
    harm: 'Deferred values would be written after the end of the document.',
    async missing() {
      const { last } = await renderPage(late(() => 'late'));
      return failing({ [CLOSING]: last.endsWith(CLOSING) });
    },
  },
  {
    on: 'react-dom',
    what: 'keeps the digest of a failed boundary in `data-dgst` of a template',
    by: 'src/client/engine/hydration/late-templates.ts',
    harm: 'A part that failed late would show an address from the browser instead of one from the server.',
    async missing() {
      const [inShell, after] = [await renderPage(fail), await renderPage(late(fail))];
      return failing({
        '<template data-dgst> in the shell': /<template data-dgst="the-digest"/.test(inShell.whole),
        'a script that sets dataset.dgst': after.whole.includes('.dgst=') && after.whole.includes('"the-digest"'),
      });
    },
  },
  {
    on: 'react-dom',
    what: 'writes its stream by the code that we replace, in `cjs/react-dom-server.node.production.js`',
    by: 'build/join-react-writes.mjs',
    harm: "The build would use React's own stream, and pages would cost more CPU.",
    missing: () =>
      failing({
        'the text that was reviewed': joinReactWrites(reactServer()).joined,
        'the file that its server.node.js loads': readPackageFile('react-dom', 'server.node.js').includes(
          './cjs/react-dom-server.node.production.js',
        ),
      }),
  },
  {
    on: 'react-dom',
    what: 'gives its errors the numbers that we explain',
    by: 'src/shared/engine/rendering/react-errors.ts',
    harm: 'A failure would have the explanation of a different error, or none.',
    missing() {
      const client = readPackageFile('react-dom', 'cjs/react-dom-client.production.js');
      return Object.keys(REACT_MESSAGES).filter(
        (code) => !new RegExp(`formatProdErrorMessage\\(\\s*${code}\\b`).test(client),
      );
    },
  },
  {
    on: 'react-dom',
    what: 'words a failed hydration as we read it',
    by: 'src/server/engine/errors/digest/create-digest.ts',
    harm: 'A mismatch would be reported as an exception of the page, with a different digest.',
    missing: () =>
      [
        'Hydration failed because',
        'There was an error while hydrating',
        'The server could not finish this Suspense boundary',
      ].filter((words) => !readPackageFile('react-dom', 'cjs/react-dom-client.development.js').includes(words)),
  },
  {
    on: 'react',
    what: 'names its kinds of components by symbols such as `react.memo`',
    by: 'src/client/engine/develop/development.ts',
    harm: 'In development, changing a component in memo(), forwardRef() or lazy() would reload the page.',
    missing() {
      const View = () => null;
      const kinds = [memo(View), forwardRef(View), lazy(async () => ({ default: View }))].map((kind) =>
        String((kind as unknown as { $$typeof: symbol }).$$typeof),
      );
      return without(kinds, ['Symbol(react.memo)', 'Symbol(react.forward_ref)', 'Symbol(react.lazy)']);
    },
  },
  {
    on: 'react-refresh',
    what: 'has the functions of its runtime that bundlers use',
    by: 'build/develop/module-code.mjs',
    harm: 'In development, no component would be refreshed.',
    missing() {
      const source = readPackageFile('react-refresh', 'cjs/react-refresh-runtime.development.js');
      const exported = [...source.matchAll(/^\s*exports\.(\w+) =/gm)].map(([, name = '']) => name);
      return without(exported, [
        'injectIntoGlobalHook',
        'performReactRefresh',
        'register',
        'createSignatureFunctionForTransform',
      ]);
    },
  },
  {
    on: 'react-router',
    what: 'keeps its contexts in `lib/context.js`, and its router and history in `lib/router/`',
    by: 'build/react-router.mjs',
    harm: 'Hooks of React Router would not find the router.',
    missing() {
      const declared = readFileSync(`${root}src/shared/engine/routing/router-contexts.d.ts`, 'utf8');
      const contexts = [...declared.matchAll(/(?:as|const) (\w+Context)\b/g)].map(([, name = '']) => name);
      return [
        ...without(Object.keys(routerContexts), contexts),
        ...without(Object.keys(routerModule), ['createRouter']),
        ...without(Object.keys(routerHistory), ['createBrowserHistory']),
      ];
    },
  },
  {
    on: 'react-router',
    what: 'provides the same contexts in its `RouterProvider`',
    by: 'src/shared/engine/routing/router-view.tsx',
    harm: 'A React Router hook would fail on every page.',
    missing() {
      const source = readPackageFile('react-router', 'dist/production/lib/components.js');
      const provided = new Set([...source.matchAll(/(\w+Context)\.Provider/g)].map(([, name = '']) => name));
      const view = readFileSync(`${root}src/shared/engine/routing/router-view.tsx`, 'utf8');
      // React Router's <Await> and view transitions, which React's own components replace here.
      for (const unused of ['AwaitContext', 'ViewTransitionContext']) provided.delete(unused);
      const navigators = ['hooks.js', 'dom/lib.js'].flatMap((file) => [
        ...readPackageFile('react-router', `dist/production/lib/${file}`).matchAll(/\bnavigator\.(\w+)/g),
      ]);
      return [
        ...[...provided].filter((name) => !view.includes(`<${name} `)),
        ...navigators.map(([call, name]) => (view.includes(` ${name}: `) ? '' : call)).filter(Boolean),
      ];
    },
  },
  {
    on: 'react-router',
    what: 'has the members and the state of our stand-in in its data router, and uses no others in its hooks',
    by: 'src/shared/engine/routing/stand-in.ts',
    harm: 'A page would fail until the router has loaded.',
    missing() {
      const router = createMemoryRouter(tree.objects);
      const standIn = createStandIn({
        tree,
        payload: { build: 'b', routes: ['home'], params: {}, data: {}, styles: {} },
        location: router.state.location,
        navigate: async () => {},
        fetch: async () => {},
        revalidate: async () => {},
        deleteBlocker: () => {},
      });
      const hooks = ['hooks.js', 'dom/lib.js'].map((file) =>
        readPackageFile('react-router', `dist/production/lib/${file}`),
      );
      const used = hooks.flatMap((source) => [
        ...[...source.matchAll(/(?<![./\w])router\.(\w+)/g)].map(([, name = '']) => name),
        ...[...source.matchAll(/\{([^{}]*)\} = router;/g)].flatMap(([, names = '']) =>
          names.split(',').map((name) => name.replace(/:.*/s, '').trim()),
        ),
      ]);
      return [
        ...without(Object.keys(router), Object.keys(standIn)),
        ...without(Object.keys(standIn), used).map((name) => `hooks use ${name}`),
        ...without(Object.keys(standIn.state), Object.keys(router.state)).map((name) => `state.${name}`),
      ];
    },
  },
  {
    on: 'react-router',
    what: 'keeps `usr` and `key` in `history.state`',
    by: 'src/client/engine/hydration/hydrate.tsx',
    harm: 'After a reload, useLocation().state would be lost.',
    missing() {
      const history = readPackageFile('react-router', 'dist/production/lib/router/history.js');
      return failing({ usr: /\busr: /.test(history), key: /\bkey: /.test(history) });
    },
  },
  {
    on: 'react-router',
    what: 'has the form and the target of a navigation in its state when it asks for data, and ends the navigation by `_internalSetStateDoNotUseOrYouWillBreakYourApp`',
    by: 'src/client/engine/navigation/navigator.ts',
    harm: 'Forms would be sent empty, and useNavigation() would stay busy after a download.',
    async missing() {
      const seen: unknown[] = [];
      const router = createMemoryRouter(tree.objects, {
        hydrationData: { loaderData: {} },
        dataStrategy: () => {
          seen.push(router.state.navigation.formData?.get('name'), router.state.navigation.location?.hash);
          return new Promise(() => {});
        },
      });
      const formData = new FormData();
      formData.set('name', 'Ada');
      void router.navigate('/#end', { formMethod: 'post', formData });
      const begun = router.state.navigation.state;
      router._internalSetStateDoNotUseOrYouWillBreakYourApp({ navigation: IDLE_NAVIGATION });
      const ended = router.state.navigation.state;
      return failing({
        form: seen[0] === 'Ada',
        hash: seen[1] === '#end',
        begun: begun === 'submitting',
        ended: ended === 'idle',
      });
    },
  },
  {
    on: 'react-router',
    what: 'lists in `dist/production/index.js` the file of each export',
    by: 'build/front-doors.mjs',
    harm: 'The first load of every page would include all of React Router.',
    missing() {
      const exports = listExports(readPackageFile('react-router', 'dist/production/index.js'));
      return without([...exports.keys()], ['Outlet', 'useFetcher', 'useLoaderData', 'matchPath', 'IDLE_NAVIGATION']);
    },
  },
  {
    on: 'express',
    what: 'marks an app that has no `trust proxy` setting, in versions 4 and 5',
    by: 'src/server/engine/existing-app.ts',
    harm: 'An existing app behind a proxy would see the IP address of the proxy instead of the client.',
    missing: () =>
      failing({
        'Express 5': (express() as Express).settings[DEFAULT_TRUST] === true,
        'Express 4': (require('express4') as typeof express)().settings[DEFAULT_TRUST] === true,
      }),
  },
  {
    on: 'express',
    what: 'sets the properties that we remove from a request, and runs an app by `app.handle`',
    by: 'src/server/engine/existing-app.ts',
    harm: 'An existing app would see properties that our Express app left on the request.',
    async missing() {
      const app = express();
      let own: string[] = [];
      let handled = false;
      const { handle } = app as unknown as { handle: (...args: unknown[]) => unknown };
      Object.assign(app, {
        handle(...args: unknown[]) {
          handled = true;
          return handle.apply(app, args);
        },
      });
      app.get('/:name', (req, res) => {
        own = Object.keys(req);
        res.end();
      });
      let before: string[] = [];
      await withServer(
        (req, res) => {
          before = Object.keys(req);
          app(req as express.Request, res as express.Response);
        },
        async (port) => (await fetch(`http://127.0.0.1:${port}/a`)).text(),
      );
      // The cached parsed URL can stay: parseurl checks that it belongs to the current URL.
      const added = own.filter((name) => !before.includes(name) && name !== '_parsedUrl');
      return [...without(ROUTING, added), ...failing({ 'app.handle is called': handled })];
    },
  },
  {
    on: 'Node',
    what: 'loads its WebSocket client by three getters of `node:http`',
    by: 'build/node-http.mjs',
    harm: 'The server and each worker would start 27 ms slower.',
    missing() {
      const getters = Object.entries(Object.getOwnPropertyDescriptors(http))
        .filter(([, { get }]) => get)
        .map(([name]) => name);
      const known = [...COSTLY, 'maxHeaderSize', 'globalAgent'];
      return [...without(getters, COSTLY), ...without(known, getters)];
    },
  },
  {
    on: 'Node',
    what: 'gives the response to a pipelined request its socket, with the event `socket`, when its turn comes',
    by: 'src/server/engine/connection/one-at-a-time.ts',
    harm: 'A pipelined request would wait forever, or all of them would run simultaneously.',
    async missing() {
      const seen: string[] = [];
      const answer = await withServer(
        (req, res) => {
          seen.push(`${req.url} ${res.socket === null ? 'waits' : 'has its socket'}`);
          res.once('socket', () => seen.push(`${req.url} gets its socket`));
          setTimeout(() => res.end(req.url), 10);
        },
        async (port) => {
          const socket = net.connect(port, '127.0.0.1');
          const head = 'HTTP/1.1\r\nHost: a\r\n';
          socket.write(`GET /1 ${head}\r\nGET /2 ${head}Connection: close\r\n\r\n`);
          return text(socket);
        },
      );
      const order = ['/1 has its socket', '/2 waits', '/2 gets its socket'];
      return failing({ [order.join(', ')]: seen.join() === order.join() && answer.includes('/2') });
    },
  },
  {
    on: 'Node',
    what: 'keeps open connections in the `close()` of `net.Server`',
    by: 'src/server/engine/connection/drain.ts',
    harm: 'A drain would cut off responses that are still being sent.',
    async missing() {
      return withServer(
        (_req, res) => void res.end('whole'),
        async (port, server) => {
          const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
          const ask = () =>
            new Promise<string>((resolve, reject) => {
              http.get({ port, host: '127.0.0.1', agent }, (res) => resolve(text(res))).on('error', reject);
            });
          await ask();
          const closed = new Promise((resolve) => net.Server.prototype.close.call(server, resolve));
          const again = await ask().catch(String);
          agent.destroy();
          await closed;
          return failing({ 'an answer on a connection that was idle': again === 'whole' });
        },
      );
    },
  },
];

it.each(RELIANCES)('$on $what', async ({ on, what, by, harm, missing }) => {
  expect(
    await missing(),
    `${on} ${versionOf(on)} no longer ${what}. ${by} relies on it. ${harm} Find out what changed, then update that file and this test.`,
  ).toEqual([]);
});

it('name files that exist', () => {
  expect(RELIANCES.filter(({ by }) => !existsSync(`${root}${by}`))).toEqual([]);
});
