// Behaviour of React, React Router, Express and Node that we rely on although it is not documented. A new version can
// change it without notice. Each test's message says what would break, and which file to look at.

import { existsSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import * as routerHistory from 'spillway:history';
import * as routerModule from 'spillway:router';
import * as routerContexts from 'spillway:router-contexts';
import express from 'express';
import { Suspense, use } from 'react';
import { renderToPipeableStream } from 'react-dom/server';
import { createMemoryRouter, IDLE_NAVIGATION } from 'react-router';
import { expect, it } from 'vitest';
import { COSTLY } from '../build/quick-start.mjs';
import { ROUTING } from '../src/server/front/existing-app.ts';
import { findDefinition, findPattern, recordPatterns } from '../src/server/request/route-patterns.ts';
import { REACT_MESSAGES } from '../src/shared/rendering/react-errors.ts';
import { createRouteTree } from '../src/shared/routing/route-objects.ts';
import { createStandIn } from '../src/shared/routing/stand-in.ts';
import { listenInTest } from './support/listen.ts';

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

function versionOf(name: Reliance['on']): string {
  return name === 'Node' ? process.version : (JSON.parse(readPackageFile(name, 'package.json')).version as string);
}

/** The names of the facts that are false. */
const failing = (facts: Readonly<Record<string, boolean>>): string[] =>
  Object.keys(facts).filter((name) => !facts[name]);

const without = (found: readonly string[], expected: readonly string[]): string[] =>
  expected.filter((name) => !found.includes(name));

/** Renders a boundary whose content fails, in the shell or after it. */
async function renderFailing(read: () => string): Promise<string> {
  const Part = () => <b>{read()}</b>;
  const page = (
    <body>
      <Suspense fallback={<i>awaited</i>}>
        <Part />
      </Suspense>
    </body>
  );
  const sink = new PassThrough();
  const stream = renderToPipeableStream(page, {
    onShellReady: () => stream.pipe(sink),
    onError: () => 'the-digest',
  });
  return text(sink);
}

function fail(): never {
  throw new Error('no value');
}

const tree = createRouteTree([{ id: 'home', path: '/', page: async () => ({ default: () => null }) }]);

const RELIANCES: readonly Reliance[] = [
  {
    on: 'react-dom',
    what: 'keeps the digest of a failed boundary in `data-dgst` of a template',
    by: 'src/client/reporting/failed-templates.ts',
    harm: 'A part that failed late would show an address from the browser instead of one from the server.',
    async missing() {
      const soon = new Promise((resolve) => setTimeout(resolve, 5)).then(fail);
      const [inShell, after] = [await renderFailing(fail), await renderFailing(() => use(soon))];
      return failing({
        '<template data-dgst> in the shell': inShell.includes('<template data-dgst="the-digest"'),
        'a script that sets dataset.dgst': after.includes('.dgst=') && after.includes('"the-digest"'),
      });
    },
  },
  {
    on: 'react-dom',
    what: 'gives its errors the numbers that we explain',
    by: 'src/shared/rendering/react-errors.ts',
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
    by: 'src/server/errors/digest/read-message.ts',
    harm: 'A mismatch would be reported as an exception of the page, with a different digest.',
    missing: () =>
      [
        'Hydration failed because',
        'There was an error while hydrating',
        'The server could not finish this Suspense boundary',
      ].filter((words) => !readPackageFile('react-dom', 'cjs/react-dom-client.development.js').includes(words)),
  },
  {
    on: 'react-router',
    what: 'keeps its contexts in `lib/context.js`, and its router and history in `lib/router/`',
    by: 'build/react-router.mjs',
    harm: 'Hooks of React Router would not find the router.',
    missing() {
      const declared = readFileSync(`${root}src/shared/routing/router-contexts.d.ts`, 'utf8');
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
    what: 'has the members and the state of our stand-in in its data router, and uses no others in its hooks',
    by: 'src/shared/routing/stand-in.ts',
    harm: 'A page would fail until the router has loaded.',
    missing() {
      const router = createMemoryRouter(tree.objects);
      const payload = { build: 'b', routes: ['home'], params: {}, data: {}, styles: {} };
      const standIn = createStandIn(
        { tree, payload, location: router.state.location },
        { navigate: async () => {}, fetch: async () => {}, revalidate: async () => {}, deleteBlocker: () => {} },
      );
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
    by: 'src/client/hydration/hydrate.tsx',
    harm: 'After a reload, useLocation().state would be lost.',
    missing() {
      const history = readPackageFile('react-router', 'dist/production/lib/router/history.js');
      return failing({ usr: /\busr: /.test(history), key: /\bkey: /.test(history) });
    },
  },
  {
    on: 'react-router',
    what: 'has the form and the target of a navigation in its state when it asks for data, and ends the navigation by `_internalSetStateDoNotUseOrYouWillBreakYourApp`',
    by: 'src/client/navigation/navigator.ts',
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
    on: 'express',
    what: 'makes routes by `Router.prototype.route`, and keeps the paths of routes and mounts in `stack` and `rawPath`',
    by: 'src/server/request/route-patterns.ts',
    harm: 'Logs, metrics and incidents would name only the end of a route, and show secrets before it, and no line of it.',
    missing() {
      const inner = express.Router().get('/b/:c', fail);
      recordPatterns(express.Router().use('/:a', inner));
      const route = inner.stack[0]?.route;
      return failing({ rawPath: findPattern(route) === '/:a/b/:c', route: findDefinition(route) !== undefined });
    },
  },
  {
    on: 'express',
    what: 'sets the properties that we remove from a request, and runs an app by `app.handle`',
    by: 'src/server/front/existing-app.ts',
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
      const server = http.createServer((req, res) => {
        before = Object.keys(req);
        app(req as express.Request, res as express.Response);
      });
      await (await fetch(`http://127.0.0.1:${await listenInTest(server)}/a`)).text();
      // The cached parsed URL can stay: parseurl checks that it belongs to the current URL.
      const added = own.filter((name) => !before.includes(name) && name !== '_parsedUrl');
      return [...without(ROUTING, added), ...failing({ 'app.handle is called': handled })];
    },
  },
  {
    on: 'Node',
    what: 'loads its WebSocket client by three getters of `node:http`',
    by: 'build/quick-start.mjs',
    harm: 'The server and each worker would start 27 ms slower.',
    missing() {
      const getters = Object.entries(Object.getOwnPropertyDescriptors(http))
        .filter(([, { get }]) => get)
        .map(([name]) => name);
      const known = [...COSTLY, 'maxHeaderSize', 'globalAgent'];
      return [...without(getters, COSTLY), ...without(known, getters)];
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
