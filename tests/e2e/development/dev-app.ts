import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DevState } from '../../../src/shared/develop-protocol.ts';
import { findFreePort } from '../../support/free-port.ts';
import { createOwnedApp } from '../../support/owned-app.ts';
import { startServerProcess } from '../../support/server-process.ts';
import { until } from '../../support/until.ts';

/** Allows for builds that share two cores with other tests (ms). */
export const PATIENCE = 80_000;

/** An app under `npm run dev`, in its own folder. */
export interface DevApp {
  readonly url: string;
  readonly folder: string;
  /** All output so far. */
  readonly output: () => string;
  /** Saves a file like an editor. */
  write(path: string, text: string): void;
  read(path: string): string;
  /** Replaces text in a file. @throws if the file does not contain it exactly once */
  edit(path: string, from: string, to: string): void;
  has(path: string): boolean;
  /** Which build is served, and what is wrong with it. */
  readState(): Promise<DevState>;
  /** Waits until all that was written is built, and is served or known to be broken. */
  settled(): Promise<DevState>;
  /** Restores all files, and waits until the restored app is served. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts it in a process that a signal ends without reaching the app, as it ends npm and its shell. */
const AS_NPM = "require('node:child_process').spawn(process.execPath, ['bin/dev.mjs'], { stdio: 'inherit' })";

/** Copies the engine, adds this product and starts the app. @param settings environment variables */
export async function startDevApp(
  files: Readonly<Record<string, string>> = {},
  settings: Readonly<Record<string, string>> = {},
): Promise<DevApp> {
  const owned = createOwnedApp();
  const { folder } = owned;
  for (const path of ['src/shared/product', 'src/server/product']) {
    rmSync(join(folder, path), { recursive: true });
  }
  owned.write({ ...PRODUCT, ...files });
  /** The original text of each file that the test wrote; undefined if it did not exist. */
  const before = new Map<string, string | undefined>();
  const write = (path: string, text: string): void => {
    if (!before.has(path)) before.set(path, readOrUndefined(path));
    owned.write({ [path]: text });
  };

  const { HOST: host = '127.0.0.1' } = settings;
  // Chosen here, because a restarted server must listen on the same port.
  const { PORT: port = await findFreePort(host) } = settings;
  const env = { NODE_ENV: 'development', npm_lifecycle_event: 'dev', HOST: host, PORT: String(port), ...settings };
  const server = await startServerProcess(['--eval', AS_NPM], env, folder);
  const { url, log } = server;
  let state: 'running' | 'ended' | 'stopped' = 'running';
  void server.ended.then(() => {
    if (state === 'running') state = 'ended';
  });

  const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
  const readOrUndefined = (path: string) => (existsSync(join(folder, path)) ? read(path) : undefined);

  async function reset(): Promise<void> {
    if (before.size === 0) return;
    owned.write(Object.fromEntries([...before].filter(([path, text]) => readOrUndefined(path) !== text)));
    before.clear();
    const { error } = await settled();
    if (error) throw new Error(`The restored app is not served:\n${log()}`);
  }

  let marks = 0;
  /** Writes a file that nothing reads, because changes are built in the order in which they are written. */
  async function settled(): Promise<DevState> {
    const end = performance.now() + PATIENCE;
    let mark = '';
    let markedAt = 0;
    for (;;) {
      // A server that is being replaced can close the connection.
      const state = await readState().catch(() => undefined);
      const isBuilt = mark !== '' && state?.reason.includes(mark);
      if (isBuilt && (state?.error || state?.served === state?.build)) return state as DevState;
      if (performance.now() > end) throw new Error(`The last changes are not served:\n${log()}`);
      // A build of many files does not name them all, so the next mark is written after it.
      if (state && !isBuilt && (mark === '' || state.build > markedAt)) {
        markedAt = state.build;
        marks += 1;
        mark = `src/shared/product/mark-${marks}.txt`;
        owned.write({ [mark]: 'nothing reads this' });
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async function readState(): Promise<DevState> {
    const headers = { connection: 'close' }; // a connection that stays open can end with its server
    return (await (await fetch(`${url}/_dev/state`, { headers })).json()) as DevState;
  }
  return {
    url,
    folder,
    output: log,
    write,
    read,
    edit(path, from, to) {
      const text = read(path);
      if (text.split(from).length !== 2)
        throw new Error(`${path} does not contain ${JSON.stringify(from)} exactly once.`);
      write(
        path,
        text.replace(from, () => to),
      );
    },
    has: (path) => existsSync(join(folder, path)),
    readState,
    settled,
    reset,
    async stop() {
      if (state === 'stopped') return;
      if (state === 'ended') throw new Error(`npm run dev has ended:\n${log()}`);
      state = 'stopped';
      await server.stop();
      await until(() => findServersIn(folder).length === 0, 'the servers to end');
      owned.remove();
    },
  };
}

/** @returns ids of server processes that run in this folder. Needs `/proc`: on other systems it finds none. */
function findServersIn(folder: string): string[] {
  if (!existsSync('/proc/self/cwd')) return [];
  return readdirSync('/proc').filter((id) => {
    try {
      return (
        /^\d+$/.test(id) &&
        readlinkSync(`/proc/${id}/cwd`) === folder &&
        readFileSync(`/proc/${id}/cmdline`, 'utf8').includes('dist-dev/server/develop.js')
      );
    } catch {
      return false; // The process has ended, or belongs to another user.
    }
  });
}

/** A counter, a form field, a shared button, a context, a hook and a loader. */
const PRODUCT: Readonly<Record<string, string>> = {
  'src/shared/product/routes.tsx': `import { defineRoutes, type RouteIdOf } from '#engine';

export const routes = defineRoutes([
  {
    id: 'root',
    page: () => import('./pages/root.tsx'),
    children: [
      { id: 'home', path: '/', page: () => import('./pages/home.tsx') },
      { id: 'other', path: '/other', page: () => import('./pages/other.tsx') },
    ],
  },
]);

export type RouteId = RouteIdOf<typeof routes>;
`,
  'src/shared/product/document.tsx': `import type { DocumentProps } from '#engine';

export function Document({ lang, head, children }: DocumentProps) {
  return (
    <html lang={lang}>
      <head>
        <meta charSet="utf-8" />
        {head}
      </head>
      <body>{children}</body>
    </html>
  );
}
`,
  'src/shared/product/error-pages.tsx': `import type { ErrorPageProps, ErrorPages } from '#engine';

function Failed({ error }: ErrorPageProps) {
  return <h1>{error.kind}</h1>;
}

export const errorPages: ErrorPages = {
  notFound: Failed,
  forbidden: Failed,
  unauthorized: Failed,
  public: Failed,
  failure: Failed,
};
`,
  'src/shared/product/theme.ts': `import { createContext } from 'react';

export const Theme = createContext('none');
`,
  'src/shared/product/use-label.ts': `import { useContext } from 'react';
import { Theme } from './theme.ts';

export function useLabel() {
  return 'theme ' + useContext(Theme);
}
`,
  'src/shared/product/pages/root.tsx': `import { Outlet } from 'react-router';
import { Link } from '#engine';
import { Theme } from '../theme.ts';

export default function Root() {
  return (
    <Theme value="blue">
      <nav>
        <Link to="/">Home</Link> <Link to="/other">Other</Link>
      </nav>
      <Outlet />
    </Theme>
  );
}
`,
  'src/shared/product/ui/button.tsx': `import { useState } from 'react';

export function Button() {
  const [count, setCount] = useState(0);
  return (
    <button type="button" onClick={() => setCount(count + 1)}>
      clicked {count}
    </button>
  );
}
`,
  'src/shared/product/pages/home.module.css': '.title { color: rgb(1, 2, 3) }\n',
  'src/shared/product/pages/home.tsx': `import { useState } from 'react';
import { useData } from '#engine';
import { Button } from '../ui/button.tsx';
import { useLabel } from '../use-label.ts';
import styles from './home.module.css';

export default function Home() {
  const [seen] = useState(() => 'mounted');
  const { words } = useData<{ words: string }>();
  const label = useLabel();
  return (
    <main>
      <h1 className={styles.title}>First words</h1>
      <p id="data">{words}</p>
      <p id="label">{label}</p>
      <p>{seen}</p>
      <label>
        Note <input name="note" />
      </label>
      <Button />
      <div style={{ height: '200vh' }} />
      <footer>the end</footer>
    </main>
  );
}
`,
  'src/shared/product/pages/other.tsx': `export default function Other() {
  return <h1>Other</h1>;
}
`,
  'src/server/product/words.ts': `export const words = 'from the loader';
`,
  'src/server/product/pages/index.ts': `import { words } from '../words.ts';

export const pages = {
  root: null,
  home: { loader: () => ({ words }) },
  other: null,
};
`,
  'src/server/product/settings.ts': `import { defineSettings } from '#engine/server';

export const settings = defineSettings({});
`,
  'src/server/product/index.ts': `import { defineProduct } from '#engine/server';
import { pages } from './pages/index.ts';
import { settings } from './settings.ts';

export const product = defineProduct({
  settings,
  pages,
});
`,
};
