import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { buildApp } from './build-app.ts';
import { applyBlocks, type RecipeBlock } from './recipe-blocks.ts';
import { linkPackages } from './recipe-packages.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';

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

/** A clone in its own folder, with the smallest product and what a test adds. */
export type OwnedApp = ReturnType<typeof createOwnedApp>;

export type RunningApp = ServerProcess;

export interface OwnedAppOptions {
  /** Another fixture (`gallery`) whose files replace or extend those of the smallest product. */
  readonly over?: string;
  /** Adds the packages in `tests/recipes/packages`. */
  readonly withPackages?: boolean;
}

/** Copies the project with the fixture's product, and applies the code blocks of a recipe. */
export function createOwnedApp(
  blocks: readonly RecipeBlock[] = [],
  { over, withPackages = false }: OwnedAppOptions = {},
) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-owned-')));
  for (const path of UPSTREAM) {
    cpSync(join(project, path), join(folder, path), {
      recursive: true,
      filter: (from) => !isProduct(from),
    });
  }
  cpSync(join(fixture, 'src'), join(folder, 'src'), { recursive: true });
  if (over) cpSync(join(project, 'tests/fixtures', over, 'src'), join(folder, 'src'), { recursive: true });
  if (withPackages) linkPackages(join(folder, 'node_modules'));
  else symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'));
  applyBlocks(folder, blocks);

  return {
    folder,
    /** Writes files, replacing existing ones. Undefined removes a file. */
    write(files: Readonly<Record<string, string | undefined>>) {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        if (text === undefined) rmSync(join(folder, path));
        else writeFileSync(join(folder, path), text);
      }
    },
    /** Replaces the first occurrence of a text in a file. @throws if the file does not contain it */
    replace(path: string, from: string, to: string) {
      const text = readFileSync(join(folder, path), 'utf8');
      if (!text.includes(from)) throw new Error(`There is no "${from}" in ${path}.`);
      writeFileSync(
        join(folder, path),
        text.replace(from, () => to),
      );
    },
    build: () => buildApp(folder),
    /** Starts the built app on a free port, until the test ends. */
    async start(env: Readonly<Record<string, string>> = {}) {
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

function isProduct(path: string): boolean {
  return /[\\/]src[\\/](?:shared|client|server)[\\/]product(?:[\\/]|$)/.test(path);
}

/** Starts the built app of a folder. The caller stops it. */
export function startApp(folder: string, env: Readonly<Record<string, string>> = {}): Promise<RunningApp> {
  return startServerProcess([join(folder, 'dist/server/main.js')], env, folder);
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

/** Makes an app in `apps/web` of a workspace, whose packages are above it. @returns its folder */
export function createInWorkspace(workspace: string): string {
  const app = join(workspace, 'apps/web');
  mkdirSync(join(workspace, 'apps'));
  renameSync(createOwnedApp().folder, app);
  renameSync(join(app, 'node_modules'), join(workspace, 'node_modules'));
  return app;
}
