import { spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { buildApp } from './build-app.ts';
import { isOfApp } from './check-types.ts';
import { applyBlocks, type RecipeBlock } from './recipe-blocks.ts';

export const project = fileURLToPath(new URL('../..', import.meta.url));
const fixture = join(project, 'tests/fixtures/app');

/** Everything in a clone except the product, which comes from the fixture. */
const UPSTREAM = [
  'src',
  'build',
  'build.mjs',
  'bin',
  'package.json',
  'tsconfig.base.json',
  'tsconfig.shared.json',
  'tsconfig.client.json',
  'tsconfig.server.json',
];

const LISTENING = /Listening on (http:\/\/[^\s"]+)/;

/** A clone in its own folder, with the smallest product and what a test adds. */
export interface OwnedApp {
  readonly folder: string;
  /** Writes files, replacing existing ones. Undefined removes a file. */
  write(files: Readonly<Record<string, string | undefined>>): void;
  /** Replaces the first occurrence of a text in a file. @throws if the file does not contain it */
  replace(path: string, from: string, to: string): void;
  build(): Promise<void>;
  /** Starts the built app on a free port, until the test ends. */
  start(env?: Readonly<Record<string, string>>): Promise<RunningApp>;
  remove(): void;
}

export interface RunningApp {
  /** Origin, without a trailing slash. */
  readonly url: string;
  /** The log so far. */
  readonly log: () => string;
  /** Stops it with SIGTERM, and resolves with its exit code. */
  stop(): Promise<number | null>;
  /** Resolves with its exit code, or null if a signal ended it. */
  readonly ended: Promise<number | null>;
}

export interface OwnedAppOptions {
  /** Another fixture (`gallery`) whose files replace or extend those of the smallest product. */
  readonly over?: string;
  /** Leaves out files that all apps have in common, for `checkTypes`. */
  readonly partial?: boolean;
}

/** Copies the project with the fixture's product, and applies the code blocks of a recipe. */
export function createOwnedApp(
  blocks: readonly RecipeBlock[] = [],
  { over, partial = false }: OwnedAppOptions = {},
): OwnedApp {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-owned-')));
  for (const path of UPSTREAM) {
    cpSync(join(project, path), join(folder, path), {
      recursive: true,
      filter: (from) => !isProduct(from) && (!partial || isFolder(from) || isOfApp(from)),
    });
  }
  cpSync(join(fixture, 'src'), join(folder, 'src'), { recursive: true });
  if (over) cpSync(join(project, 'tests/fixtures', over, 'src'), join(folder, 'src'), { recursive: true });
  symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'));
  applyBlocks(folder, blocks);

  return {
    folder,
    write(files) {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        if (text === undefined) rmSync(join(folder, path));
        else writeFileSync(join(folder, path), text);
      }
    },
    replace(path, from, to) {
      const text = readFileSync(join(folder, path), 'utf8');
      if (!text.includes(from)) throw new Error(`There is no "${from}" in ${path}.`);
      writeFileSync(
        join(folder, path),
        text.replace(from, () => to),
      );
    },
    build: () => buildApp(folder),
    async start(env = {}) {
      const running = await startApp(folder, env);
      onTestFinished(async () => void (await running.stop()));
      return running;
    },
    // The server can still be writing there.
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }),
  };
}

export function readProjectFile(path: string): string {
  return readFileSync(join(project, path), 'utf8');
}

const isFolder = (path: string) => statSync(path).isDirectory();

function isProduct(path: string): boolean {
  return /[\\/]src[\\/](?:shared|client|server)[\\/]product(?:[\\/]|$)/.test(path);
}

/** Starts the built app of a folder. The caller stops it. */
export async function startApp(folder: string, env: Readonly<Record<string, string>> = {}): Promise<RunningApp> {
  const child = spawn(process.execPath, [join(folder, 'dist/server/main.js')], {
    cwd: folder,
    env: {
      ...process.env,
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: '0',
      DRAIN_LAG: '0',
      OVERLOAD_DELAY: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let output = '';
  function stop(): Promise<number | null> {
    child.kill('SIGTERM');
    return ended;
  }
  const url = await new Promise<string>((resolve, reject) => {
    function read(chunk: Buffer): void {
      output += chunk.toString();
      const found = LISTENING.exec(output);
      if (found?.[1]) resolve(found[1]);
    }
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`The app ended with ${code} before it listened:\n${output}`)));
  });
  return { url, log: () => output, stop, ended };
}

/** A client like a browser without scripts. Keeps cookies, and does not follow redirects. */
export interface Visitor {
  readonly cookies: ReadonlyMap<string, string>;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  post(
    path: string,
    fields: Readonly<Record<string, string>> | FormData,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>;
}

export function createVisitor(url: string): Visitor {
  const cookies = new Map<string, string>();
  async function ask(path: string, init: RequestInit): Promise<Response> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = new Headers(init.headers);
    if (cookie) headers.set('cookie', cookie);
    const reply = await fetch(url + path, { ...init, headers, redirect: 'manual' });
    for (const line of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/;\s*(?:max-age=0|expires=thu, 01 jan 1970)/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return reply;
  }
  return {
    cookies,
    get: (path, headers) => ask(path, { headers }),
    post: (path, fields, headers) =>
      ask(path, {
        method: 'POST',
        headers: { origin: url, ...headers },
        body: fields instanceof FormData ? fields : new URLSearchParams(fields),
      }),
  };
}
