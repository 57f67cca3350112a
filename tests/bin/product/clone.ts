import { exec, execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';

export const project = fileURLToPath(new URL('../../..', import.meta.url));
const LEFT_OUT = new Set(['.git', 'node_modules', 'dist', 'dist-dev', 'data', 'coverage']);
const LISTENING = /Listening on (http:\/\/[^\s"]+)/;

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
    start(env = {}) {
      const child = spawn(process.execPath, ['bin/start.mjs'], {
        cwd: folder,
        env: { ...shell, HOST: '127.0.0.1', PORT: '0', DRAIN_LAG: '0', ...env },
      });
      const ended = new Promise((resolve) => child.once('exit', resolve));
      onTestFinished(async () => {
        child.kill('SIGTERM');
        await ended;
      });
      return new Promise((resolve, reject) => {
        let output = '';
        for (const stream of [child.stdout, child.stderr]) {
          stream.on('data', (chunk: Buffer) => {
            output += chunk.toString();
            const url = LISTENING.exec(output)?.[1];
            if (url) resolve(url);
          });
        }
        child.once('exit', () => reject(new Error(`The server exited before it listened:\n${output}`)));
      });
    },
    // A build can still be writing.
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }),
  };
}

export const hasGit = (() => {
  try {
    return execFileSync('git', ['--version']).length > 0;
  } catch {
    return false;
  }
})();
