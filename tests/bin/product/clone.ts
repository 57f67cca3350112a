import { exec } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { startServerProcess } from '../../support/server-process.ts';

export const project = fileURLToPath(new URL('../../..', import.meta.url));
const LEFT_OUT = new Set(['.git', 'node_modules', 'dist', 'dist-dev', 'data', 'coverage']);

/** The environment of an ordinary shell, without variables of this test run. */
const shell = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => name !== 'NODE_ENV' && !/^(?:VITEST|npm_)/.test(name)),
);

/** The folders that `npm run own` changes. The others were linted before. */
export const CHANGED = [
  ...['shared', 'server', 'client'].map((tree) => `src/${tree}/product`),
  ...['shared', 'server', 'e2e', 'support'].map((tree) => `tests/${tree}/product`),
];

/** A copy of the whole project, in which tests run the commands of its owner. */
export interface Clone {
  readonly folder: string;
  read(path: string): string;
  /** Runs a command and returns its output. If it fails, the output is the error message. */
  run(command: string, env?: Readonly<Record<string, string>>): Promise<string>;
  /** Starts the server on a free port, until the test ends. @returns its URL */
  start(env?: Readonly<Record<string, string>>): Promise<string>;
  remove(): void;
}

export function createClone(): Clone {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-own-')));
  cpSync(project, folder, { recursive: true, filter: (path) => !LEFT_OUT.has(basename(path)) });
  symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'), 'junction');

  return {
    folder,
    read: (path) => readFileSync(join(folder, path), 'utf8'),
    async run(command, env = {}) {
      try {
        const options = { cwd: folder, env: { ...shell, ...env }, maxBuffer: 2 ** 26 };
        const { stdout, stderr } = await promisify(exec)(command, options);
        return stdout + stderr;
      } catch (error) {
        const { stdout, stderr } = error as { stdout: string; stderr: string };
        throw new Error(`\`${command}\` failed:\n${stdout}${stderr}`);
      }
    },
    async start(env = {}) {
      const server = await startServerProcess(['bin/start.mjs'], env, folder);
      onTestFinished(async () => void (await server.stop()));
      return server.url;
    },
    // A build can still be writing.
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }),
  };
}
